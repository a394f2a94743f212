"""What one gateway process holds open: pools, rates, the outbox and the embedder."""

from __future__ import annotations

import threading
import time
from functools import cached_property

import structlog

from db.embedding import current_stamp
from gateway.context import Context
from gateway.doors import Doors
from gateway.outbox import Outbox
from gateway.rates import Rates
from gateway.spool import Spool
from pipeline.embedding.port import Embedder, Vectors
from pipeline.errors import AfterwordError

_STAMP_SECONDS = 30.0

log = structlog.get_logger()


class Gate:
    """Opened with the application, closed with it."""

    def __init__(self, context: Context) -> None:
        self.limits = context.limits
        self.doors = Doors(context)
        self.rates = Rates(context.limiter, context.limits.requests_a_minute)
        self.outbox = Outbox(context.emitter, context.limits.durable_seconds)
        self.spool = Spool(context.spool, context.emitter, self.outbox, context.limits.resend_seconds)
        self._embedder_port = context.embedder
        self._embedding = threading.Lock()
        self._stamp: tuple[float, int | None, str | None] | None = None

    @cached_property
    def _embedder(self) -> Embedder | None:
        return self._embedder_port()

    def vector(self, text: str) -> tuple[Vectors | None, int | None, str | None]:
        """The question's vector and the number of its stamp, or why there is none. Before a connection is taken."""
        try:
            with self._embedding:
                embedder = self._embedder
                number, why_not = self._current(embedder)
                if embedder is None or number is None:
                    return None, None, why_not
                return embedder.query(text), number, None
        except AfterwordError as error:
            return None, None, str(error)

    def _current(self, embedder: Embedder | None) -> tuple[int | None, str | None]:
        if embedder is None:
            return None, "no embedder is chosen"
        if self._stamp is None or time.monotonic() - self._stamp[0] > _STAMP_SECONDS:
            with self.doors.bare("operator") as conn:
                found = current_stamp(conn)
            if found is None:
                self._stamp = (time.monotonic(), None, "no embedding space is registered")
            elif found[1] != embedder.stamp:
                log.warning("another_stamp", registered=found[1].model, ours=embedder.stamp.model)
                self._stamp = (time.monotonic(), None, "the embedder here is not the one that is registered")
            else:
                self._stamp = (time.monotonic(), found[0], None)
        return self._stamp[1:]

    def open(self) -> None:
        self.outbox.start()
        self.spool.start()

    def close(self) -> None:
        self.spool.stop()
        self.outbox.stop()
        self.rates.close()
        self.doors.close()

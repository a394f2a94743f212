"""The chosen embedder is asked for vectors before a worker starts or a space is made for it."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection

from ops.compose import make_embedder
from ops.settings import Settings
from pipeline.embedding.probe import probe
from pipeline.errors import AfterwordError, ModelUnavailable, SettingError


def probe_apart(settings: Settings) -> None:
    """In a process of its own: a model that is loaded here would not survive the fork of workers.

    Raises SettingError, naming what is wrong, and ModelUnavailable where the endpoint does not answer now.
    """
    forked = multiprocessing.get_context("fork")
    receiver, sender = forked.Pipe(duplex=False)
    process = forked.Process(target=_report, args=(settings, sender), daemon=True)
    process.start()
    sender.close()
    try:
        fault: AfterwordError | None = receiver.recv()
    except EOFError:
        fault = SettingError("AFTERWORD_EMBEDDER: the process that tried the embedder died; see what it wrote")
    process.join()
    if fault is not None:
        raise fault


def _report(settings: Settings, sender: Connection) -> None:
    try:
        embedder = make_embedder(settings)
        if embedder is not None:
            probe(embedder)
        sender.send(None)
    except ModelUnavailable as error:
        sender.send(ModelUnavailable(str(error)))
    except AfterwordError as error:
        sender.send(SettingError(str(error)))

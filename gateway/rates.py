"""Requests per token and minute, counted in Redis under the token's hash. Where Redis is away nothing is refused."""

from __future__ import annotations

import time

import structlog
from redis import Redis
from redis.exceptions import RedisError

from db.tokens import hash_of
from gateway.problems import Problem
from workers.keys import rate_key

WINDOW_SECONDS = 60
_REST_SECONDS = 5.0

log = structlog.get_logger()


class Rates:
    """A fixed window. `a_minute`: requests of one token."""

    def __init__(self, url: str, a_minute: int) -> None:
        self._redis = Redis.from_url(url, socket_timeout=0.5, socket_connect_timeout=0.5)
        self._a_minute, self._rests_until = a_minute, 0.0

    def count(self, token: str) -> None:
        """Raises Problem 429 with the seconds that are left of the window."""
        if time.monotonic() < self._rests_until:
            return
        window, gone = divmod(time.time(), WINDOW_SECONDS)
        try:
            with self._redis.pipeline(transaction=True) as pipe:
                key = rate_key(hash_of(token), int(window))
                pipe.incr(key)
                pipe.expire(key, 2 * WINDOW_SECONDS)
                seen = pipe.execute()[0]
        except RedisError as error:
            self._rests_until = time.monotonic() + _REST_SECONDS
            log.warning("rates_not_counted", error=type(error).__name__, for_seconds=_REST_SECONDS)
            return
        if seen > self._a_minute:
            left = str(max(1, int(WINDOW_SECONDS - gone)))
            raise Problem(429, f"more than {self._a_minute} requests in a minute", headers={"Retry-After": left})

    def close(self) -> None:
        self._redis.close()

"""afterword gateway: the HTTP door, in the foreground."""

from __future__ import annotations

from ops import logs
from ops.commands.worker import log_settings
from ops.compose import door
from ops.settings import load

GRACE_SECONDS = 35
"""Longer than the longest wait for a run."""


def gateway() -> None:
    """Serve HTTP on AFTERWORD_GATEWAY_HOST and AFTERWORD_GATEWAY_PORT until SIGTERM; metrics on AFTERWORD_METRICS_PORT.

    It speaks no TLS: where it is reached from elsewhere, a proxy in front of it does.
    Example: afterword gateway
    """
    settings = load()
    logs.configure(settings.log_level, as_json=settings.log_json)
    log_settings(settings)
    import uvicorn

    from gateway.app import make_app  # here, since it brings the metrics: see ops/commands/worker.py
    from workers import metrics

    if settings.metrics_port is not None:
        from prometheus_client import start_http_server

        start_http_server(settings.metrics_port, addr=settings.metrics_host, registry=metrics.registry(None))
    uvicorn.run(
        make_app(door(settings)), host=settings.gateway_host, port=settings.gateway_port, log_config=None,
        access_log=False, server_header=False, timeout_keep_alive=30, timeout_graceful_shutdown=GRACE_SECONDS,
    )  # fmt: skip

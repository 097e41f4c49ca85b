"""``serve --transport http``: opens the kit and the port, serves until a signal comes, then lets calls finish.

Theory of operation. The guard is the whole application; behind it stands the SDK's session manager, which speaks both
protocol eras on one path. The first SIGTERM begins the drain: ``/readyz`` says so, new calls are turned away, those in
progress have ``drain_s`` to finish. What still runs then is closed session by session, so that its callers are told
what became of it; then the port is closed. A second signal skips the wait.
"""

import asyncio
import contextlib
import gc
import logging
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from msgspec.structs import replace

from execkit_mcp.config.http_settings import MCP_PATH, HttpSettings, check_base
from execkit_mcp.config.settings import Settings, load_settings
from execkit_mcp.errors import ConfigError
from execkit_mcp.kit import ExecKit, open_kit
from execkit_mcp.runtime.connections import KEEP_ALIVE_S, MAX_HEAD_BYTES, GuardedProtocol
from execkit_mcp.runtime.system import SystemClock, SystemEntropy
from execkit_mcp.server.app import build_server
from execkit_mcp.server.http.addresses import addresses
from execkit_mcp.server.http.bearer import Bearers
from execkit_mcp.server.http.guard import Door, Guard
from execkit_mcp.server.http.listener import Listener, base_url, listen
from execkit_mcp.server.http.metadata import Resource
from execkit_mcp.server.http.metrics import Metrics
from execkit_mcp.server.log import RedactedLog
from execkit_mcp.storage import open_database
from execkit_mcp.storage.tokens import Tokens

_SWEEP_S: Final = 2.0
_LAST_WORDS_S: Final = 2.0
_PROTOCOL_SESSIONS: Final = 2000
_YOUNG_OBJECTS: Final = 20_000


class _Server(uvicorn.Server):
    """uvicorn, with the signals left to us."""

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield


def _door(kit: ExecKit, settings: HttpSettings, listener: Listener, manager: StreamableHTTPSessionManager,
          metrics: Metrics) -> Door:  # fmt: skip
    clock = SystemClock()
    resource = Resource(base_url=base_url(settings, listener), oauth=settings.oauth)
    started_s = clock.epoch_s()
    door = Door(
        kit=kit,
        app=manager.handle_request,
        bearers=Bearers(tokens=kit.tokens, oauth=settings.oauth, resource=resource.url, clock=clock),
        addresses=addresses(
            host=settings.host,
            port=listener.port,
            public_url=settings.public_url,
            allowed_hosts=settings.allowed_hosts,
            allowed_origins=settings.allowed_origins,
        ),
        resource=resource,
        limits=settings.limits,
        metrics=metrics,
        clock=clock,
        gauges=dict,
        has_open_metrics=listener.is_loopback and settings.public_url is None and not settings.behind_proxy,
    )

    def gauges() -> Mapping[str, float]:
        counts = kit.counts()
        return {
            "execkit_http_requests_in_progress": door.in_progress,
            "execkit_http_connections": door.connections(),
            "execkit_sessions_open": counts["sessions"],
            "execkit_execs_running": counts["running"],
            "execkit_draining": int(door.is_draining),
            "execkit_start_time_seconds": started_s,
        }

    door.gauges = gauges
    return door


async def _serve(settings: HttpSettings, kit: ExecKit, listener: Listener) -> None:
    metrics = Metrics()
    server = build_server(
        kit,
        most_output=settings.limits.output_chars,
        watch=lambda tool, outcome: metrics.count("execkit_tool_calls_total", tool=tool, outcome=outcome),
    )
    manager = StreamableHTTPSessionManager(
        server, max_request_body_size=settings.limits.request_kb * 1024 + 1, max_sessions=_PROTOCOL_SESSIONS
    )
    door = _door(kit, settings, listener, manager, metrics)
    guard = Guard(door)
    protocol = type("Connection", (GuardedProtocol,), {"most": settings.limits.connections})
    web = _Server(
        uvicorn.Config(
            guard,
            http=protocol,
            ws="none",
            loop="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=1,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
    )
    web.config.load()
    web.config.ssl = listener.tls
    door.connections = lambda: len(web.server_state.connections)
    logging.getLogger().addHandler(RedactedLog(kit.redact, logging.ERROR))
    asked = asyncio.Event()
    again = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, lambda: again.set() if asked.is_set() else asked.set())
    kit.prewarm()
    gc.enable()  # the command line turned it off while modules were loaded
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS)
    async with asyncio.TaskGroup() as tasks:
        sweeping = tasks.create_task(_sweep(guard))
        serving = tasks.create_task(web.serve(sockets=list(listener.sockets)))
        async with manager.run():
            _announce(door, settings, kit, listener)
            ending = tasks.create_task(asked.wait())
            await asyncio.wait([serving, ending], return_when=asyncio.FIRST_COMPLETED)
            ending.cancel()
            await _drain(door, guard, again, settings.limits.drain_s)
        sweeping.cancel()
        web.should_exit = True


async def _drain(door: Door, guard: Guard, again: asyncio.Event, drain_s: float) -> None:
    door.is_draining = True
    if door.calls:
        sys.stderr.write(f"execkit-mcp: ending; {door.calls} calls in progress have {drain_s:g} s to finish\n")
        sys.stderr.flush()
        await _until_either(guard.idle, again, drain_s)
    await door.kit.close_sessions("the server is ending")
    await _until_either(guard.idle, again, _LAST_WORDS_S)


async def _until_either(one: asyncio.Event, other: asyncio.Event, most_s: float) -> None:
    waits = [asyncio.ensure_future(one.wait()), asyncio.ensure_future(other.wait())]
    await asyncio.wait(waits, timeout=most_s, return_when=asyncio.FIRST_COMPLETED)
    for each in waits:
        each.cancel()


async def _sweep(guard: Guard) -> None:
    while True:
        await asyncio.sleep(_SWEEP_S)
        try:
            await guard.end_the_revoked()
        except Exception as error:  # noqa: BLE001 - the next round tries again; nobody new gets in meanwhile
            sys.stderr.write(f"execkit-mcp: tokens cannot be looked up: {type(error).__name__}\n")


def _announce(door: Door, settings: HttpSettings, kit: ExecKit, listener: Listener) -> None:
    here = base_url(replace(settings, public_url=None), listener)
    lines = [f"serving on {here}{MCP_PATH}, policy {kit.policy_name}"]
    if settings.public_url is not None:
        lines.append(f"clients reach it at {door.resource.url}")
    if settings.oauth is not None:
        lines.append(f"tokens of {settings.oauth.issuer} are believed")
    elif not door.bearers.is_anybody():
        lines.append("no token exists yet, so nobody gets in; make one: execkit-mcp tokens create NAME")
    for line in lines:
        sys.stderr.write(f"execkit-mcp: {line}\n")
    sys.stderr.flush()


def _require_somebody(settings: Settings) -> None:
    """Raise unless somebody could get in."""
    database = open_database(Path(settings.state_dir))
    try:
        tokens = Tokens(database, clock=SystemClock(), entropy=SystemEntropy())
        if any(token.state(tokens.now_s()) == "active" for token in tokens.all()):
            return
    finally:
        database.close()
    raise ConfigError(
        "Nobody could get in: there is no token and no authorization server.",
        hint="Make a token first: execkit-mcp tokens create NAME",
    )


async def _run(http: HttpSettings, listener: Listener, **places: Any) -> None:
    async with open_kit(owns_process=True, **places) as kit:
        await _serve(http, kit, listener)


def serve_http(given: Mapping[str, object], *, read_only: bool, **places: Any) -> int:
    """Serve many clients over HTTP; returns the exit code.

    Everything that is wrong with configuration, address and certificate is told before anything is started.

    Args:
        given: settings of ``http:`` that the command line sets.
        read_only: as ``open_kit`` takes it.
        places: policy, config, workspace and state_dir, as ``open_kit`` takes them.
    """
    settings = load_settings(**places)
    public_url = given.get("public_url")
    if isinstance(public_url, str) and (wrong := check_base(public_url)):
        raise ConfigError(f"--public-url: {wrong}.", hint="For example: https://shell.example.com")
    http = replace(settings.http, **given)
    listener = listen(http)
    try:
        if not listener.is_loopback and http.oauth is None:
            _require_somebody(settings)
        asyncio.run(_run(http, listener, read_only=read_only, **places))
    finally:
        listener.close()
    return 0

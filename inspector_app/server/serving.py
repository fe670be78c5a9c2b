"""The server's socket, event loop and shutdown."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from pathlib import Path

import uvicorn

from inspector_app.server.agents import ServedAgents
from inspector_app.server.application import application
from inspector_app.server.connection import configuration
from inspector_app.server.guard import LOOPBACK_NAMES, Access
from inspector_app.server.runs import Runs
from runtime.errors import KnownError

# `create_server` turns the errors of a name's look-up into plain OSErrors with their numbers.
_NO_SUCH_ADDRESS = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, socket.EAI_NONAME, socket.EAI_AGAIN, socket.EAI_FAIL)
SECONDS_TO_STOP = 5  # for the agents' `finally` blocks at shutdown


class CannotListenError(KnownError):
    """The server cannot listen on the address; the message says why."""


def listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens on this machine.

    Args:
        host: a name or loopback address of this machine.
        port: 0 for any free port.

    Raises:
        CannotListenError: the port is in use, or other machines could reach the address.
    """
    if host not in LOOPBACK_NAMES:
        raise CannotListenError(
            f"The server cannot listen on {host}, because it runs agents for every client that"
            " reaches it. Set --host to localhost, 127.0.0.1 or ::1. From another machine, use a tunnel: ssh -L 8000:localhost:8000 HERE."
        )
    addresses = ["localhost", "127.0.0.1", "::1"] if host == "localhost" else [host]
    for address in addresses:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        try:
            return socket.create_server((address, port), family=family, backlog=128)
        except (OSError, OverflowError) as error:
            # A machine without /etc/hosts does not know the name, and one without IPv4 has only ::1.
            if address == addresses[-1] or getattr(error, "errno", None) not in _NO_SUCH_ADDRESS:
                raise CannotListenError(
                    f"Port {port} cannot be used: {getattr(error, 'strerror', None) or error}. Choose another with --port."
                ) from error
    raise AssertionError("the last address returns or raises")


def url_of(listening: socket.socket, host: str) -> str:
    """Return the URL under which a server is reached on this machine.

    Args:
        listening: from `listening_socket`.
        host: as the user named it; the address itself is used where the name is not known.
    """
    address, port = listening.getsockname()[:2]
    try:
        socket.getaddrinfo(host, port)
    except OSError:
        host = address
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(listening: socket.socket, agents: ServedAgents, access: Access, page: Path | None) -> None:
    """Serve agents until the process is interrupted.

    Args:
        listening: from `listening_socket`; closed at the end.
        agents: the agents; closed at the end.
        access: who may use the server.
        page: the folder of google-adk's page; None: no page is served.

    Raises:
        KeyboardInterrupt: on Ctrl+C, after all runs were stopped and all databases closed.
    """
    # A shell starts background processes with Ctrl+C ignored. The server stops on it anyway, and must then report that it was interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    runs = Runs()
    config = configuration(application(agents, runs, access, page))
    # All that takes time is done: within the loop, a signal before uvicorn's own handlers would cancel its start halfway.
    asyncio.run(_Server(config, runs).serve([listening]))


class _Server(uvicorn.Server):
    """A server that stops the runs first: it waits for open connections, and an event stream is open as long as its agent runs."""

    def __init__(self, config: uvicorn.Config, runs: Runs) -> None:
        super().__init__(config)
        self._runs = runs

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop the runs, then the server."""
        await self._runs.stop(SECONDS_TO_STOP)
        await super().shutdown(sockets)

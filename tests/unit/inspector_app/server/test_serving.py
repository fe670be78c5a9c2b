"""The server's socket."""

from __future__ import annotations

import errno
import socket
from typing import Any

import pytest

from inspector_app.server.serving import CannotListenError, listening_socket, url_of

REAL = socket.create_server


def without(monkeypatch: pytest.MonkeyPatch, missing: dict[str, OSError]) -> None:
    """Let these names and addresses be unknown on this machine."""

    def create(address: tuple[str, int], **more: Any) -> socket.socket:
        if address[0] in missing:
            raise missing[address[0]]
        return REAL(address, **more)

    def look_up(host: str, *more: Any, **named: Any) -> list[Any]:
        if host in missing:
            raise missing[host]
        return real_look_up(host, *more, **named)

    real_look_up = socket.getaddrinfo
    monkeypatch.setattr(socket, "create_server", create)
    monkeypatch.setattr(socket, "getaddrinfo", look_up)


# As `create_server` raises it.
UNKNOWN = OSError(socket.EAI_NONAME, "Name or service not known (while attempting to bind on address ('localhost', 0))")
NO_IPV4 = OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address")


def test_localhost_is_the_loopback_address_where_the_name_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, {"localhost": UNKNOWN})
    with listening_socket("localhost", 0) as listening:
        address, port = listening.getsockname()
        assert address == "127.0.0.1"
        assert url_of(listening, "localhost") == f"http://127.0.0.1:{port}"


def test_localhost_is_the_other_loopback_address_without_ipv4(monkeypatch: pytest.MonkeyPatch) -> None:
    if not socket.has_ipv6:
        pytest.skip("the machine has no IPv6")
    without(monkeypatch, {"localhost": UNKNOWN, "127.0.0.1": NO_IPV4})
    try:
        with listening_socket("localhost", 0) as listening:
            assert url_of(listening, "localhost") == f"http://[::1]:{listening.getsockname()[1]}"
    except CannotListenError as error:
        pytest.skip(f"the machine has no ::1: {error}")


def test_a_known_name_is_kept() -> None:
    with listening_socket("127.0.0.1", 0) as listening:
        assert url_of(listening, "127.0.0.1") == f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_a_port_in_use_is_not_tried_elsewhere() -> None:
    with listening_socket("localhost", 0) as listening, pytest.raises(CannotListenError, match="Choose another"):
        listening_socket("localhost", listening.getsockname()[1])


def test_no_address_at_all_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, {"localhost": UNKNOWN, "127.0.0.1": NO_IPV4, "::1": NO_IPV4})
    with pytest.raises(CannotListenError, match="Cannot assign"):
        listening_socket("localhost", 0)

"""Addresses of servers, as people write them."""

from __future__ import annotations

import pytest

from inspector_app.remote.server_address import TRUSTED, ForeignHostError, server_address
from runtime.errors import StorageError


@pytest.mark.parametrize(
    ("written", "shown", "users", "apps"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000", ("user",), ()),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000", ("user",), ()),
        ("http://localhost:8000/dev-ui/?app=desk&session=s1", "http://localhost:8000?app=desk", ("user",), ("desk",)),
        ("http://[::1]:8000?user=ana&user=b%20c", "http://[::1]:8000?user=ana&user=b+c", ("ana", "b c"), ()),
        ("https://t0ken@host.example/adk", "https://host.example/adk", ("user",), ()),
    ],
)
def test_an_address_names_a_server_and_whose_sessions_are_read(written: str, shown: str, users: tuple[str, ...], apps: object) -> None:
    address = server_address(written)
    assert (address.shown, address.users, address.apps) == (shown, users, apps)
    assert server_address(address.shown) == address


@pytest.mark.parametrize("written", ["http://:1", "http://h:port", "ftp://h", "http://h/#x", "http://[::1", "h:8000"])
def test_what_is_no_address_is_refused_without_quoting_it(written: str) -> None:
    with pytest.raises(StorageError, match="This is not the address of a server") as found:
        server_address(written)
    assert written not in str(found.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "[::1]"])
def test_this_machine_is_trusted(host: str) -> None:
    server_address(f"http://{host}:1").check_trusted()


@pytest.mark.parametrize("host", ["example.com", "10.0.0.1", "localhost.example.com", "0.0.0.0"])
def test_another_machine_is_refused_unless_it_was_allowed(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    address = server_address(f"http://{host}:1")
    with pytest.raises(ForeignHostError, match=f"{host} is another machine"):
        address.check_trusted()
    address.check_trusted((host,))
    monkeypatch.setenv(TRUSTED, f"other, {host}")
    address.check_trusted()

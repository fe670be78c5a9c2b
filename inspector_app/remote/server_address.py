"""The address of a server of google-adk's or ours, as a person writes it."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlencode, urlsplit, urlunsplit

from runtime.errors.storage_error import StorageError

DEFAULT_USER = "user"  # whose sessions adk web shows
TRUSTED = "AGENT_INSPECTOR_TRUSTED_HOSTS"  # names of hosts, separated by commas, for commands
TOKEN = "AGENT_INSPECTOR_TOKEN"
_TOKENS: dict[str, str] = {}  # shown address → its token; kept in memory only


class ForeignHostError(StorageError):
    """The server is on another machine, which the user has not allowed.

    Attributes:
        host: the machine.
    """

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host} is another machine, which would see what you send and decide what you see. To read from it, set {TRUSTED}={host}."
        )
        self.host = host


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A server, and whose sessions of it are read.

    Attributes:
        shown: the whole address for display, without a token; identifies the source.
        base: scheme, host, port and path, without a slash at the end.
        host: the host's name.
        users: ids of the users; the protocol has no list of them.
        apps: the only apps whose sessions are read; empty: all.
    """

    shown: str
    base: str
    host: str
    users: tuple[str, ...]
    apps: tuple[str, ...] = ()

    @property
    def token(self) -> str:
        """The token that was given with the address, or in the environment; empty if there is none."""
        return _TOKENS.get(self.base) or os.environ.get(TOKEN, "")

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def check_trusted(self, trusted: tuple[str, ...] = ()) -> None:
        """Refuse a server on another machine, unless it is trusted.

        Args:
            trusted: hosts that the user has allowed, besides those in the environment.

        Raises:
            ForeignHostError: it is neither local nor trusted.
        """
        allowed = {name.strip() for name in os.environ.get(TRUSTED, "").split(",")}
        if not self.is_local and self.host not in allowed.union(trusted):
            raise ForeignHostError(self.host)


def server_address(written: str, token: str = "") -> ServerAddress:
    """Return the server that is meant, and remember its token in this process.

    Args:
        written: such as `http://127.0.0.1:8000`. `?user=ana&user=ben` names users, `?app=desk` an app, as in adk web's page; a token may
            be written before an `@`.
        token: replaces the token in the address unless it is empty.

    Raises:
        StorageError: this is no such address. The message does not quote it, because it may contain a token.
    """
    try:
        parts = urlsplit(written.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or parts.fragment:
        raise StorageError("This is not the address of a server. An example is http://127.0.0.1:8000.")
    query = parse_qs(parts.query)
    users, apps = (tuple(dict.fromkeys(query.get(name, ()))) for name in ("user", "app"))
    name = f"[{host}]" if ":" in host else host
    base = urlunsplit((parts.scheme, f"{name}:{port}" if port else name, parts.path.rstrip("/"), "", ""))
    base = base.removesuffix("/dev-ui")  # the page's address is copied from a browser
    if given := token or unquote(parts.password or parts.username or ""):
        _TOKENS[base] = given
    shown = [*(("app", app) for app in apps), *(("user", user) for user in users if users != (DEFAULT_USER,))]
    return ServerAddress(f"{base}?{urlencode(shown)}" if shown else base, base, host, users or (DEFAULT_USER,), apps)


def server_target(url: str, token: str = "") -> str:
    """Return the URL that identifies a server or an Agent Engine, without a token, which is remembered in this process.

    Args:
        url: see `is_remote`.
        token: replaces the token in the address unless it is empty.

    Raises:
        StorageError: see `server_address`.
    """
    return url if url.startswith("agentengine://") else server_address(url, token).shown

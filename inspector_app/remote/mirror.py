"""The copy of a server's sessions in a file, from which the window and the commands read them like any database's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from inspector_app.remote.adk_server import AdkServer
from inspector_app.remote.agent_engine import AgentEngine
from inspector_app.remote.server_address import server_address
from inspector_app.remote.store import RemoteStore
from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.database_url import mirrored
from runtime.storage.writing.mirror_file import MirrorFile


class Mirror:
    """Copies sessions from a server when they are asked for, or have changed. Thread-safe; calls block.

    Attributes:
        store: the server.
        file: where the copy is.

    Args:
        store: the server.
    """

    def __init__(self, store: RemoteStore) -> None:
        self.store = store
        self._folder = TemporaryDirectory(prefix="agent-inspector-", ignore_cleanup_errors=True)
        self.file = Path(self._folder.name) / "sessions.db"
        self._copy = MirrorFile(self.file)
        self._listed: dict[SessionKey, float] = {}
        self._copied: dict[SessionKey, float] = {}
        self._left_alone: set[SessionKey] = set()
        self._lock = threading.RLock()  # one thread at a time changes the copy
        self._is_closed = False

    def refresh(self) -> None:
        """List the sessions, and copy those again that were copied and have changed.

        Raises:
            StorageError: the server cannot be used.
        """
        listed = self.store.listed()
        with self._lock:
            self._check_open()
            for key in listed.keys() - self._listed.keys():
                self._copy.list_session(key, listed[key])
            if gone := self._listed.keys() - listed.keys():
                self._copy.remove_sessions(gone)
                self._copied = {key: time for key, time in self._copied.items() if key not in gone}
            new = listed.keys() - self._listed.keys() if self._listed or self._copied else set()
            changed = [key for key, at in self._copied.items() if listed.get(key) != at]
            self._listed = listed
        for key in (*changed, *sorted(new)):
            if key not in self._left_alone:
                self.bring(key)

    def bring(self, key: SessionKey) -> None:
        """Copy a session as it is now.

        Raises:
            StorageError: the server cannot be used.
        """
        with self._lock:
            found = self.store.session(key)
            self._check_open()
            if found is None:
                self._copy.remove_sessions([key])
                self._listed.pop(key, None)
                self._copied.pop(key, None)
                return
            self._copy.put_session(key, found.state, self._listed.get(key) or found.updated, found.events)
            # The list's own time, if there is one: a store may round it otherwise than the session's.
            self._copied[key] = self._listed.get(key, found.updated)

    def bring_all(
        self, wanted: Callable[[SessionKey], bool] = lambda _: True, seen: Callable[[int, int], object] = lambda _, __: None
    ) -> None:
        """Copy all sessions that have not been copied, the newest first.

        Args:
            wanted: returns whether a session is meant.
            seen: called with the numbers of sessions copied so far, and of all.

        Raises:
            StorageError: the server cannot be used.
        """
        left = sorted((key for key in self._listed if wanted(key)), key=lambda key: -self._listed.get(key, 0))
        for number, key in enumerate(left):
            seen(number, len(left))
            if self._is_closed:
                return
            if key not in self._copied and key in self._listed:
                self.bring(key)

    def has(self, key: SessionKey) -> bool:
        """Return whether a session was copied."""
        return key in self._copied

    @contextmanager
    def left_alone(self, key: SessionKey) -> Iterator[None]:
        """Do not follow a session's changes: a run of this window reports them."""
        self._left_alone.add(key)
        try:
            yield
        finally:
            self._left_alone.discard(key)

    def close(self) -> None:
        """Close the connections and delete the copy."""
        self._is_closed = True
        self.store.close()
        with self._lock:
            self._copy.close()
            self._folder.cleanup()

    def _check_open(self) -> None:
        if self._is_closed:
            raise StorageError("The sessions were closed.")


def open_store(target: str, users: tuple[str, ...] = (), trusted: tuple[str, ...] = ()) -> RemoteStore:
    """Return the server that a URL means; nothing is asked of it yet.

    Args:
        target: see `is_remote`.
        users: whose sessions to read of a server, in place of those that its address names.
        trusted: hosts on other machines that the user has allowed.

    Raises:
        KnownError: the URL is wrong, or the server is on another machine that is not trusted.
    """
    if target.startswith("agentengine://"):
        return AgentEngine(target)
    address = server_address(target)
    if users:
        address = server_address(
            f"{address.base}?{urlencode([*(('app', app) for app in address.apps), *(('user', user) for user in users)])}"
        )
    address.check_trusted(trusted)
    return AdkServer(address)


@contextmanager
def copied(
    target: str,
    users: tuple[str, ...] = (),
    wanted: Callable[[SessionKey], bool] = lambda _: True,
    seen: Callable[[int, int], object] = lambda _, __: None,
) -> Iterator[str]:
    """Let the sessions behind a URL be read as a database, as they are now, until the context ends; yield the name to open it by.

    Args:
        target: see `is_remote`.
        users: whose sessions to read of a server, in place of those that its address names.
        wanted, seen: see `Mirror.bring_all`.

    Raises:
        KnownError: see `open_store`, or the server cannot be used.
    """
    mirror = Mirror(open_store(target, users))
    try:
        mirror.refresh()
        mirror.bring_all(wanted, seen)
        with mirrored(mirror.store.target, mirror.file):
            yield mirror.store.target
    finally:
        mirror.close()

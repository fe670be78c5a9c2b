"""A server's sessions as a source: a copy of them is read as a database, and brought up to date when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from inspector_app.documents.session_files import files_of
from inspector_app.documents.sources import DatabaseSource
from inspector_app.engines.protocol import Agent
from inspector_app.remote.adk_server import AdkServer
from inspector_app.remote.mirror import Mirror, open_store
from inspector_app.remote.mirror_tail import MirrorTail
from inspector_app.remote.server_agent import ServerAgent
from inspector_app.remote.server_sessions import ServerSessions
from inspector_app.support.worker import Worker
from runtime.errors.storage_error import StorageError
from runtime.history.invocations import PendingItem
from runtime.sessions.base_session_service import BaseSessionService
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.database_url import mirrored
from runtime.storage.reading.reader import SessionSummary, StoredDatabase
from runtime.storage.tail.file_tail import FileTail
from runtime.storage.tail.tail import Tail

if TYPE_CHECKING:
    from runtime.events.event import Event


class RemoteSource(DatabaseSource):
    """The sessions of a server of google-adk's or ours, or of an Agent Engine.

    Args:
        mirror: the copy.
        stored: a reader of the copy.
        worker: the reader's thread.
        network: the thread that asks the server.
        held: released when the source is closed.
    """

    def __init__(self, mirror: Mirror, stored: StoredDatabase, worker: Worker, network: Worker, held: ExitStack) -> None:
        store = mirror.store
        super().__init__(store.target, stored, worker)
        self.title, self.badge, self.note = store.title, store.badge, store.note
        self.ours = self.can_copy = False
        self.files = store.files or files_of(None)
        self._mirror = mirror
        self._network = network
        self._held = held
        self._is_complete = False
        self._agents: dict[str, ServerAgent] = {}
        self.writing_allowed = isinstance(store, AdkServer)  # its agents write; nothing happens before the user asks for it

    @classmethod
    async def open(cls, target: str, trusted: Sequence[str] = ()) -> RemoteSource:
        """Connect to a server and list its sessions.

        Args:
            target: its URL; see `is_remote`.
            trusted: hosts on other machines that the user has allowed.

        Raises:
            KnownError: the URL is wrong, the host is not allowed, or the server cannot be used.
        """
        network, worker = Worker(f"requests to {target}"), Worker(f"reader of {target}")

        stack = ExitStack()

        def connect() -> Mirror:
            mirror = Mirror(open_store(target, trusted=tuple(trusted)))
            stack.callback(mirror.close)
            mirror.refresh()
            stack.enter_context(mirrored(mirror.store.target, mirror.file))
            return mirror

        try:
            mirror = await network.call(connect)
            stored = await worker.call(StoredDatabase.open, mirror.store.target)
        except BaseException:
            network.close(stack.close)
            worker.close()
            raise
        return cls(mirror, stored, worker, network, stack)

    def open_tail(self, known: Sequence[SessionSummary]) -> Tail:
        """See `DatabaseSource.open_tail`."""
        return MirrorTail(self._mirror, FileTail(self._mirror.file, known))

    async def sessions(self) -> list[SessionSummary]:
        """See `Source.sessions`; sessions that were not read yet have no counts."""
        return self._counted(await super().sessions())

    async def listing(self) -> list[SessionSummary]:
        """See `Source.listing`."""
        return self._counted(await super().listing())

    def listed_count(self, key: SessionKey) -> int | None:
        """See `Source.listed_count`."""
        return super().listed_count(key) if self._mirror.has(key) else None

    async def titles(self, keys: Sequence[SessionKey] | None = None) -> dict[SessionKey, str]:
        """See `Source.titles`; sessions that were not read yet have none."""
        return {key: title for key, title in (await super().titles(keys)).items() if self._mirror.has(key)}

    async def complete(self) -> None:
        """See `DatabaseSource.complete`: every session is copied once, the newest first; later ones when they are listed."""
        if self._is_complete:
            return
        await self._network.call(self._mirror.refresh)
        for summary in sorted(await super().sessions(), key=lambda summary: -summary.last_update_time):
            if not self._mirror.has(summary.key):
                await self._network.call(self._mirror.bring, summary.key)  # one at a time: a selected session comes in between
        self._is_complete = True

    async def is_long(self, key: SessionKey) -> bool:
        """See `Source.is_long`; this is the first question about a session that is selected."""
        await self._bring(key)
        return await super().is_long(key)

    async def is_longer_than(self, key: SessionKey, limit: int) -> bool:
        """See `Source.is_longer_than`."""
        await self._bring(key)
        return await super().is_longer_than(key, limit)

    async def events(self, key: SessionKey) -> list[Event]:
        """See `Source.events`."""
        await self._bring(key)
        return await super().events(key)

    async def pending(self, key: SessionKey) -> list[PendingItem]:
        """See `Source.pending`."""
        if not self._mirror.has(key):
            await self._bring(key)
        return await super().pending(key)

    async def service(self) -> BaseSessionService:
        """See `Source.service`."""
        store = self._mirror.store
        return ServerSessions(store, self._mirror) if isinstance(store, AdkServer) else await super().service()

    async def apps(self) -> list[str]:
        """Return the apps whose agents the server runs; none if it only keeps sessions.

        Raises:
            StorageError: the server cannot be used.
        """
        store = self._mirror.store
        return await self._network.call(store.apps) if isinstance(store, AdkServer) else []

    async def agent(self, app_name: str) -> Agent | None:
        """Return an app that the server runs; None if it only keeps sessions.

        Raises:
            StorageError: the server cannot be used.
        """
        store = self._mirror.store
        if not isinstance(store, AdkServer):
            return None
        if app_name not in self._agents:
            self._agents[app_name] = await self._network.call(ServerAgent.of, store, self._mirror, app_name)
        return self._agents[app_name]

    async def close(self) -> None:
        """See `Source.close`."""
        await super().close()
        self._network.close(self._held.close)

    async def _bring(self, key: SessionKey) -> None:
        try:
            await self._network.call(self._mirror.bring, key)
        except StorageError:
            if not self._mirror.has(key):  # otherwise the live tail reports that the server is lost
                raise

    def _counted(self, sessions: list[SessionSummary]) -> list[SessionSummary]:
        return [each if self._mirror.has(each.key) else SessionSummary(each.key, None, each.last_update_time) for each in sessions]

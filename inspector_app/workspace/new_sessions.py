"""Creation of sessions for the loaded agent, where they may be written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import Source
from inspector_app.engines.protocol import OnCommit, Store
from inspector_app.engines.samples import is_bundled
from inspector_app.workspace.action_availability import ActionAvailability
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.open_databases import OpenDatabases
from runtime import sessions
from runtime.errors.storage_error import StorageError
from runtime.support.lazy import lazy_module
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from inspector_app.remote import server_agent
else:
    server_agent = lazy_module("inspector_app.remote.server_agent")

DEFAULT_USER = "user"


class NewSessions:
    """Creates sessions of the loaded agent: in the selected session's database, the only writable one, or this window's own sessions.

    Args:
        cursor: the selected session.
        agents: the loaded agent.
        databases: the open databases.
        availability: knows the database of a new session.
        messages: receives what could not be recorded of a new session.
    """

    def __init__(
        self, cursor: Cursor, agents: CurrentAgent, databases: OpenDatabases, availability: ActionAvailability, messages: MessageBus
    ) -> None:
        self._cursor = cursor
        self._agents = agents
        self._databases = databases
        self._availability = availability
        self._messages = messages

    def place(self) -> Source | None:
        """Return the database of a new session; None for this window's own sessions."""
        loaded = self._agents.loaded
        source = self._availability.new_session_source()
        return source if loaded is not None and source is not None and source.writing_allowed and not source.is_unsaved else None

    async def create(
        self,
        on_commit: OnCommit,
        *,
        user_id: str = "",
        state: Mapping[str, Any] | None = None,
        session_id: str | None = None,
        unsaved: bool = False,
    ) -> SessionAddress:
        """Create a session, and list its database again if that is this window's own.

        Args:
            on_commit: called after each commit of the agent's engine.
            user_id: the user; empty: that of the selected session if it is of this agent.
            state: its first state.
            session_id: its id; None: a new one.
            unsaved: make it one of this window's own sessions.

        Raises:
            KnownError: the agent cannot use the database, or the session exists.
        """
        loaded = self._agents.loaded
        assert loaded is not None
        user_id = user_id or self.usual_user()  # of the session that is selected now
        named = None if unsaved else self.place()
        place: Store = named or await self._databases.unsaved_place(loaded.name, needs_file=loaded.needs_file)
        try:
            engine = await loaded.open_engine(place, on_commit)
            key = await engine.new_session(user_id, state, session_id)
        except StorageError as error:
            if named is not None or not self._databases.stop_keeping(place, error):
                raise
            return await self.create(on_commit, user_id=user_id, state=state, session_id=session_id, unsaved=unsaved)
        source = named or await self._databases.unsaved_source(place, needs_file=loaded.needs_file)
        if loaded.needs_file and source.ours and "://" not in source.target:
            try:
                await run_in_thread(sessions.record_creation, Path(source.target), key, state or {})
            except StorageError as error:
                self._messages.warning(
                    f"What session {key.session_id} was created with could not be recorded: its first values are shown as not recorded,"
                    f" and a rewind clears them. {error}"
                )
        if unsaved or is_bundled(loaded.folder):
            source.repeatable.add(key)
        return SessionAddress(source.target, key)

    def usual_user(self) -> str:
        """Return the user of a new session if none is named: that of the selected session if it is of the loaded agent."""
        selected, loaded = self._cursor.session, self._agents.loaded
        if loaded is not None and selected is not None and selected.key.app_name == loaded.name:
            return selected.key.user_id
        return loaded.user_id if isinstance(loaded, server_agent.ServerAgent) else DEFAULT_USER

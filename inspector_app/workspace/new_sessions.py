"""Creation of sessions for the loaded agent, where they may be written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from inspector_app.documents.session_address import MEMORY, SessionAddress
from inspector_app.documents.sources import Source
from inspector_app.engines.protocol import Agent, OnCommit
from inspector_app.engines.samples import is_bundled
from inspector_app.workspace.action_availability import ActionAvailability
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.open_databases import OpenDatabases
from runtime.support.lazy import lazy_module

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
    """

    def __init__(self, cursor: Cursor, agents: CurrentAgent, databases: OpenDatabases, availability: ActionAvailability) -> None:
        self._cursor = cursor
        self._agents = agents
        self._databases = databases
        self._availability = availability

    def place(self) -> Source | None:
        """Return the database of a new session; None for this window's own sessions, which are deleted with it."""
        loaded = self._agents.loaded
        source = self._availability.new_session_source()
        if loaded is None or source is None or not source.writing_allowed or (loaded.needs_file and source.target == MEMORY):
            return None
        return source

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
        source = None if unsaved else self.place()
        if source is None and not loaded.needs_file:
            source = await self._databases.memory(loaded.name)
        engine = await loaded.open_engine(source or self._databases.unsaved_file, on_commit)
        key = await engine.new_session(user_id or self._user(loaded), state, session_id)
        source = source or await self._databases.unsaved()
        if unsaved or is_bundled(loaded.folder):
            source.repeatable.add(key)
        return SessionAddress(source.target, key)

    def _user(self, loaded: Agent) -> str:
        selected = self._cursor.session
        if selected is not None and selected.key.app_name == loaded.name:
            return selected.key.user_id
        return loaded.user_id if isinstance(loaded, server_agent.ServerAgent) else DEFAULT_USER

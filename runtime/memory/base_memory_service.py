"""The base class of memory services."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from runtime.events.event import Event
from runtime.memory.memory_entry import MemoryEntry
from runtime.sessions.session import Session


class SearchMemoryResponse(BaseModel):
    """The result of a memory search: the found entries, best first."""

    memories: list[MemoryEntry] = Field(default_factory=list)


class BaseMemoryService(abc.ABC):
    """Stores the content of a user's sessions and searches it."""

    @abc.abstractmethod
    async def add_session_to_memory(self, session: Session) -> None:
        """Store a session; replaces what was stored of it before."""

    @abc.abstractmethod
    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return a user's memories that match a query."""

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store additional events of a session.

        Args:
            app_name, user_id, session_id: the session.
            events: the new events only.
            custom_metadata: additional data for the service.

        Raises:
            NotImplementedError: this service accepts whole sessions only.
        """
        raise NotImplementedError(f"{type(self).__name__} accepts whole sessions only: call add_session_to_memory(session).")

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Delete one memory.

        Args:
            app_name, user_id: the user.
            memory_id: `MemoryEntry.id`, as `search_memory` returns it.

        Raises:
            NotImplementedError: this service cannot delete single memories.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot delete single memories.")

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store memories that are not events.

        Args:
            app_name, user_id: the user.
            memories: what to remember.
            custom_metadata: additional data for the service.

        Raises:
            NotImplementedError: this service accepts only sessions or events.
        """
        raise NotImplementedError(
            f"{type(self).__name__} accepts only sessions and events: call add_events_to_memory(…) or add_session_to_memory(session)."
        )

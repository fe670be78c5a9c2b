"""What every memory service promises."""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from runtime.events.event import Event
from runtime.memory.memory_entry import MemoryEntry
from runtime.sessions.session import Session


class SearchMemoryResponse(BaseModel):
    """What a search found.

    Attributes:
        memories: the best first.
    """

    memories: list[MemoryEntry] = Field(default_factory=list)


class BaseMemoryService(abc.ABC):
    """Remembers what was said in a user's sessions, and finds it again."""

    @abc.abstractmethod
    async def add_session_to_memory(self, session: Session) -> None:
        """Remember a session as it is now; adding it again replaces what was remembered of it.

        Args:
            session: with its events.
        """

    @abc.abstractmethod
    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return what is remembered of a user that fits a question.

        Args:
            app_name, user_id: whose memory.
            query: what to look for.
        """

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember some more events of a session.

        Args:
            app_name, user_id, session_id: where they happened.
            events: the new ones only.
            custom_metadata: what the service may want to know.

        Raises:
            NotImplementedError: this service takes whole sessions only.
        """
        raise NotImplementedError(f"{type(self).__name__} remembers whole sessions only: call add_session_to_memory(session).")

"""A memory service that keeps its data in the process and matches words."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from runtime.events.event import Event
from runtime.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from runtime.memory.memory_entry import MemoryEntry
from runtime.sessions.session import Session

MOST_FOUND = 10  # memories per search: all are sent to the model, and almost any two sentences share a word


class InMemoryMemoryService(BaseMemoryService):
    """Searches memories by their words; for tests and samples. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[tuple[str, str], dict[str | None, dict[str, _Said]]] = {}
        self._deleted: dict[tuple[str, str], set[str]] = {}  # ids that are not added again with their session

    async def add_session_to_memory(self, session: Session) -> None:
        """See `BaseMemoryService.add_session_to_memory`."""
        said, user = _said(session.events), (session.app_name, session.user_id)
        with self._lock:
            self._sessions.setdefault(user, {})[session.id] = self._without_deleted(user, said)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """See `BaseMemoryService.add_events_to_memory`; events that are already stored are kept unchanged."""
        said = _said(events)
        with self._lock:
            known = self._sessions.setdefault((app_name, user_id), {}).setdefault(session_id, {})
            for event_id, one in self._without_deleted((app_name, user_id), said).items():
                known.setdefault(event_id, one)

    def _without_deleted(self, user: tuple[str, str], said: dict[str, _Said]) -> dict[str, _Said]:
        deleted = self._deleted.get(user, ())
        return {event_id: one for event_id, one in said.items() if event_id not in deleted}

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Delete one memory; it does not come back when its session is added again. See `BaseMemoryService.delete_memory`."""
        if not memory_id:
            return
        with self._lock:
            for said in self._sessions.get((app_name, user_id), {}).values():
                if said.pop(memory_id, None) is not None:
                    self._deleted.setdefault((app_name, user_id), set()).add(memory_id)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the ten memories that share the most words with the query; see `BaseMemoryService.search_memory`."""
        wanted = _words(query)
        with self._lock:
            said = [one for session in self._sessions.get((app_name, user_id), {}).values() for one in session.values()]
        scored = [(sum(one.mentions(word) for word in wanted), one.entry) for one in said]
        found = sorted((score for score in scored if score[0]), key=lambda score: -score[0])
        return SearchMemoryResponse(memories=[entry.model_copy(deep=True) for _, entry in found[:MOST_FOUND]])


class _Said:
    """An event's words, prepared for searching."""

    def __init__(self, event: Event) -> None:
        assert event.content is not None  # _said
        self.entry = MemoryEntry(
            content=event.content.model_copy(deep=True),
            id=event.id,
            author=event.author,
            timestamp=_iso(event.timestamp),
        )
        self._text = _plain(self.entry.text)
        self._words = _words(self._text)

    def mentions(self, word: str) -> bool:
        # Scripts without spaces have no words to compare, so a substring matches there.
        return word in self._words or (not word.isascii() and word in self._text)


def _said(events: Iterable[Event]) -> dict[str, _Said]:
    return {event.id: _Said(event) for event in events if event.content and event.content.parts}


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower()


def _words(text: str) -> set[str]:
    """Return the words of a text; Latin words inside another script are separate words."""
    words = set(re.findall(r"\w+", _plain(text)))
    return words | {part for word in words if not word.isascii() for part in re.findall(r"[a-z0-9_]+", word)}


def _iso(timestamp: float) -> str:
    try:
        return datetime.fromtimestamp(timestamp).isoformat()
    except (ValueError, OverflowError, OSError):  # outside the years 1 to 9999
        return str(timestamp)

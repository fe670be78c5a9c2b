"""The model calls of a session, numbered. No Qt."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector_app.documents.session_document import SessionDocument
from inspector_app.presentation.event_summary import is_model_answer

if TYPE_CHECKING:
    from runtime.events.event import Event

_NEAR = 2_000  # events of a long session in which the next and the previous call are looked for


@dataclass(frozen=True, slots=True)
class CallPlace:
    """A model call among the calls of its session.

    Attributes:
        number, count: its number, from 1, and how many there are; 0 in a long session, which is not read whole.
        before, after: positions of the previous and the next call's answer; None if there is none near.
        own: number and position of the agent's own previous call; None if there is none near.
    """

    number: int
    count: int
    before: int | None
    after: int | None
    own: tuple[int, int] | None

    @property
    def text(self) -> str:
        """The call in words, such as `call 9 of 14`."""
        return f"call {self.number:,} of {self.count:,}" if self.count else "call"


class ModelCalls:
    """The positions of a session's model answers, which are found once.

    Args:
        session: the session.
    """

    def __init__(self, session: SessionDocument) -> None:
        self.session = session
        self._read = 0
        self._answers: list[int] = []
        self._counting: set[str] = set()  # the authors whose models report tokens

    def place(self, index: int) -> CallPlace | None:
        """Return a call's place by the position of its answer; None if the event there is no answer of a model."""
        events = self.session.events
        event = events.cached(index, request=False)
        if event is None or not is_model_answer(event):
            return None
        if self.session.pages is None:
            for place in range(self._read, len(events)):
                if is_model_answer(events[place]):
                    self._answers.append(place)
                    self._counting.update([events[place].author] if events[place].usage_metadata else [])
            self._read = len(events)
            around = [place for place in self._answers if not self._is_of_a_callback(events[place])]
            number = bisect_left(around, index)
            first, count = number, len(around)
            if self._is_of_a_callback(event):
                return None
        else:
            near = range(max(index - _NEAR, 0), min(index + _NEAR, len(events)))
            cached = ((place, events.cached(place, request=False)) for place in near)
            around = [place for place, one in cached if one is not None and is_model_answer(one)]
            number, first, count = bisect_left(around, index), -1, 0
        before = around[number - 1] if number else None
        after = around[number + 1] if number + 1 < len(around) else None
        own = next((one for one in reversed(range(number)) if self._author(around[one]) == event.author), None)
        return CallPlace(first + 1, count, before, after, None if own is None else (own + 1 if count else 0, around[own]))

    def _is_of_a_callback(self, event: Event) -> bool:
        """Return whether an event has no tokens though its author's model reports them: a callback, or the agent's own code, wrote it."""
        return not event.usage_metadata and event.author in self._counting

    def _author(self, index: int) -> str | None:
        event = self.session.events.cached(index, request=False)
        return event.author if event is not None else None

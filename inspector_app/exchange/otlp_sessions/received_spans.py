"""Spans that arrive one after the other, as sessions that grow."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from inspector_app.exchange.otlp_sessions.runs import traces_of
from inspector_app.support.otlp import OtlpSpan
from runtime.sessions.lineage import SessionCopy
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session_key import SessionKey
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from inspector_app.exchange.otlp_sessions import sessions
    from runtime.events.event import Event
else:  # loads google-genai's types
    sessions = lazy_module("inspector_app.exchange.otlp_sessions.sessions")

MOST_WAITING = 100_000  # spans that were not taken yet; the caller that brings more waits
MOST_KEPT = 50_000  # spans in memory, 3 KB each, as later ones of their traces may say more of them
_MOST_AT_ONCE = 5_000  # spans of one `grow`, so that the first ones are shown soon
_SECONDS_TO_WAIT = 30.0  # for room; exporters give up earlier


class Grown(NamedTuple):
    """What is new in a session.

    Attributes:
        key: the session.
        replaced: the ids of its last events that are no longer so.
        copy: the events after those that stay.
        calls: the model calls among these that were not there before.
        ends: invocation → how it ended, where that is new.
        is_empty: whether the session has no events any more: its spans turned out to be of another one.
    """

    key: SessionKey
    replaced: list[str]
    copy: SessionCopy
    calls: list[sessions.TracedCall]
    ends: dict[str, RecordedEnd]
    is_empty: bool


@dataclass(slots=True)
class _Growing:
    """A session of which more may arrive.

    Attributes:
        key: the session.
        turns: trace → what it adds.
        events: the stored events that may still change.
        settled: the ids of those before them.
        ends: the ends that were returned.
    """

    key: SessionKey
    turns: dict[str, sessions.Turn] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    settled: set[str] = field(default_factory=set)
    ends: dict[str, RecordedEnd] = field(default_factory=dict)


class ReceivedSpans:
    """The spans that arrived. `add` may be called on any thread, everything else on one thread at a time."""

    def __init__(self) -> None:
        self._room = threading.Condition()
        self._arrived: list[OtlpSpan] = []
        self._is_closed = False
        self._traces: dict[str, dict[str, OtlpSpan]] = {}  # the trace that grew last is the last
        self._sessions: dict[tuple[str, str], _Growing] = {}
        self._of_trace: dict[str, set[tuple[str, str]]] = {}
        self._kept = 0
        self._without_agents: dict[str, int] = {}  # trace → its spans
        self._unused = 0

    @property
    def unused(self) -> int:
        """The number of spans so far in traces of no agent."""
        return self._unused + sum(self._without_agents.values())

    @property
    def is_waiting(self) -> bool:
        """Whether there are spans that `grow` has not taken."""
        return bool(self._arrived)

    def add(self, spans: Iterable[OtlpSpan]) -> None:
        """Take in spans; wait while too many are waiting already."""
        with self._room:
            self._room.wait_for(lambda: len(self._arrived) < MOST_WAITING or self._is_closed, _SECONDS_TO_WAIT)
            self._arrived += spans

    def close(self) -> None:
        """Let callers of `add` wait no more."""
        with self._room:
            self._is_closed = True
            self._room.notify_all()

    def forget(self) -> None:
        """Forget everything that was taken, as what is stored was moved: what arrives from now on are other sessions."""
        for found in (self._traces, self._sessions, self._of_trace, self._without_agents):
            found.clear()
        self._kept = 0

    def grow(self, elsewhere: Collection[str] = ()) -> list[Grown]:
        """Take the spans that arrived, and return what they add to sessions.

        Args:
            elsewhere: ids of sessions whose events are in another database.
        """
        with self._room:
            arrived, self._arrived = self._arrived[:_MOST_AT_ONCE], self._arrived[_MOST_AT_ONCE:]
            self._room.notify_all()
        changed: dict[tuple[str, str], set[str]] = {}
        for trace in self._take(arrived):
            for name, keys in self._read(trace, elsewhere).items():
                changed.setdefault(name, set()).update(keys)
        grown = [self._grown(self._sessions[name], traces) for name, traces in changed.items()]
        self._forget_oldest()
        return [each for each in grown if each.replaced or each.copy.events or each.ends]

    def _take(self, arrived: Iterable[OtlpSpan]) -> list[str]:
        """Keep spans, and return their traces."""
        changed: dict[str, None] = {}
        for span in arrived:
            trace = self._traces.setdefault(span.trace_id, {})
            self._kept += span.span_id not in trace
            trace.setdefault(span.span_id, span)
            changed[span.trace_id] = None
        for name in changed:
            self._traces[name] = self._traces.pop(name)
        return [*changed]

    def _read(self, trace: str, elsewhere: Collection[str]) -> dict[tuple[str, str], set[str]]:
        """Read a trace again, and return the sessions that it changes: those that it is of, and was of before."""
        before = self._of_trace.pop(trace, set())
        for name in before:
            self._sessions[name].turns.pop(trace, None)
        now = set()
        found = traces_of(self._traces[trace].values())
        self._without_agents[trace] = len(self._traces[trace]) - sum(map(len, found))
        for nodes in found:
            for turn in sessions.turns_of(nodes):
                name = turn.key.app_name, turn.key.session_id
                if name in self._sessions or turn.key.session_id not in elsewhere:
                    self._sessions.setdefault(name, _Growing(turn.key)).turns[trace] = turn
                    now.add(name)
        self._of_trace[trace] = now
        return {name: {trace} for name in before | now}

    def _grown(self, session: _Growing, changed: set[str]) -> Grown:
        turns = sorted(session.turns.values(), key=lambda turn: turn.started)
        before, session.events = session.events, sessions.joined(turns, session.settled)
        pairs = enumerate(zip(before, session.events, strict=False))
        same = next((place for place, (old, new) in pairs if old is not new and old != new), min(len(before), len(session.events)))
        added = session.events[same:]
        ids = {event.id for event in added} - {event.id for event in before}
        calls = [call for trace in changed if trace in session.turns for call in session.turns[trace].calls if call.event.id in ids]
        is_empty = not session.events and not session.settled
        found = sessions.ends_of(session.turns[trace] for trace in changed if trace in session.turns)
        ends = {name: end for name, end in found.items() if session.ends.get(name) != end}
        session.ends |= ends
        return Grown(session.key, [event.id for event in before[same:]], sessions.copy_of(added), calls, ends, is_empty)

    def _forget_oldest(self) -> None:
        """Forget the spans of the traces that grew longest ago, and of all of their sessions: what is stored of these stays as it is."""
        while self._kept > MOST_KEPT:
            forgotten = [next(iter(self._traces))]
            for trace in forgotten:
                self._kept -= len(self._traces.pop(trace, ()))
                self._unused += self._without_agents.pop(trace, 0)
                for name in self._of_trace.pop(trace, ()):
                    session = self._sessions[name]
                    session.settled.update(event.id for event in session.events)
                    session.events = []
                    forgotten += session.turns
                    session.turns.clear()

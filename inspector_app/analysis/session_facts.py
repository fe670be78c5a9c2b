"""What the checks of a session look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from inspector_app.analysis.finding import Finding, Level
from inspector_app.documents.recorded_spans import RecordedCalls
from inspector_app.presentation.costs import CostSum, cost_text, model_calls
from inspector_app.presentation.prices import Prices
from runtime.errors import StorageError
from runtime.history.invocations import Invocation, invocations
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.database_url import is_remote
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.reading.row_faults import RowTime
from runtime.storage.recordings.recording import Recording
from runtime.support.file_names import free_name

if TYPE_CHECKING:
    from runtime.events.event import Event

MOST_OF_A_KIND = 20  # findings of one check in one session; the last of them says how many more there are


@dataclass
class SessionFacts:
    """One session, read once.

    Attributes:
        key: the session.
        name: the database's name as the user wrote it, for commands.
        layout: the layout's short name.
        ours: whether the database has our record of commits.
        writable: whether the session can be continued in this database.
        events: its events in commit order; they are only read.
        rows: places and times of its rows in commit order; empty on a server.
        invocations: its invocations, with their recorded ends.
        first_state: the session's own first state; None if it was not recorded.
        state: its present state with prefixes; None if it is damaged.
        prices: the prices of models.
        recording: the recording beside the database; None if there is none.
    """

    key: SessionKey
    name: str
    layout: str
    ours: bool
    writable: bool
    events: Sequence[Event]
    rows: Sequence[RowTime]
    invocations: Sequence[Invocation]
    first_state: dict[str, Any] | None
    state: dict[str, Any] | None
    prices: Prices = field(default_factory=Prices)
    recording: Recording | None = None

    @property
    def is_google(self) -> bool:
        """Whether google-adk for Python wrote it. Those for other languages have other rules of order, branches and resumes."""
        return self.layout in ("v0", "v1", "sqlite")

    @property
    def is_remote(self) -> bool:
        """Whether the session is on a server, whose sessions the commands that run or copy do not take."""
        return is_remote(self.name)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each event in commit order, from 0, by id."""
        return {event.id: place for place, event in enumerate(self.events)}

    @cached_property
    def by_invocation(self) -> dict[str, list[Event]]:
        """The events of each invocation, by its id."""
        found: dict[str, list[Event]] = {}
        for event in self.events:
            found.setdefault(event.invocation_id, []).append(event)
        return found

    @cached_property
    def rewound(self) -> set[str]:
        """The ids of the invocations that were taken back."""
        return {each.invocation_id for each in self.invocations if each.status == "rewound"}

    @cached_property
    def standing(self) -> list[list[Event]]:
        """The events of each invocation that was not taken back."""
        return [events for invocation, events in self.by_invocation.items() if invocation not in self.rewound]

    @cached_property
    def recorded(self) -> RecordedCalls:
        """The recorded calls of the session; none if they cannot be read."""
        if self.recording is None:
            return RecordedCalls()
        try:
            key = self.key
            return RecordedCalls(self.recording.model_calls(key), self.recording.tool_calls(key), self.recording.facts(key))
        except StorageError:  # the window and `costs` report a damaged recording
            return RecordedCalls()

    def model(self, event: Event) -> str | None:
        """Return the model of an answer, if the event or the recording has it."""
        return event.model_version or self.recorded.facts.models.get(event.id)

    def paid(self, events: Sequence[Event]) -> str:
        """Return what the model calls of some events cost, as a sentence after a blank; empty if no price is known."""
        total = CostSum.of(model_calls(self.key, events, self.prices, self.recorded.facts))
        return f" {'They' if total.calls > 1 else 'It'} cost {cost_text(total)}." if total.unpriced < total.calls else ""

    @cached_property
    def unfinished(self) -> dict[str, Invocation]:
        """The invocations that wait, and the newest one if it was interrupted, by id."""
        waits = (each for each in self.invocations if each.status == "paused" or (each.can_be_resumed and not each.is_past))
        return {each.invocation_id: each for each in waits}

    def finding(
        self, kind: str, level: Level, event_id: str | None, what: str, why: str, advice: str, fix: tuple[str, ...] | None = None
    ) -> Finding:
        """Return a finding in this session."""
        return Finding(kind, level, what, why, advice, self.key, event_id, fix)

    @property
    def session_words(self) -> tuple[str, ...]:
        """The options that name the session in a command."""
        return "--app", self.key.app_name, "--user", self.key.user_id, "--session", self.key.session_id

    def convert(self, *options: str) -> tuple[str, ...]:
        """Return the command that copies the database in commit order."""
        return "agent-inspector", "convert", self.name, free_name(), *options


def read_facts(
    database: StoredDatabase,
    key: SessionKey,
    name: str,
    seen: Callable[[int], object] = lambda _: None,
    prices: Prices | None = None,
    recording: Recording | None = None,
) -> SessionFacts:
    """Read a session.

    Args:
        database: the open database.
        key: the session.
        name: the database's name as the user wrote it.
        seen: called with the number of events read so far.
        prices: the prices of models; None: the bundled ones.
        recording: the recording beside the database.

    Raises:
        StorageError: the session cannot be read.
    """
    events: list[Event] = []
    for number, event in enumerate(database.plain_events(key), 1):
        events.append(event)
        seen(number)
    try:
        state = database.state(key)
    except StorageError:  # reported by the check of the rows
        state = None
    return SessionFacts(
        key,
        name,
        database.layout.kind,
        database.layout.ours,
        database.layout.format.writer is not None,
        events,
        database.row_times(key),
        invocations(events, ends=database.recorded_ends(key).get(key, {})),
        database.first_state(key),
        state,
        prices or Prices(),
        recording,
    )


def limited(findings: Sequence[Finding]) -> list[Finding]:
    """Return the first findings of one check in one session; the last of them says how many more there are."""
    if len(findings) <= MOST_OF_A_KIND:
        return list(findings)
    kept = list(findings[:MOST_OF_A_KIND])
    more = len(findings) - MOST_OF_A_KIND
    kept[-1] = replace(kept[-1], what=f"{kept[-1].what} There are {more:,} more of these in the session.")
    return kept

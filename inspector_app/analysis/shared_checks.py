"""State of apps and users, which all of their sessions write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from inspector_app.analysis.finding import Finding
from inspector_app.analysis.session_facts import SessionFacts
from inspector_app.analysis.state_checks import is_merged, keys_with_secrets, secret_sentences
from inspector_app.presentation.values import preview, visible
from runtime.errors import StorageError
from runtime.events.marks import has_unreadable_actions
from runtime.history.explanation import Explanation
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import scope_of
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.reading.shared_state import SharedScope

_LONGEST = 60  # characters of a value in a sentence


class _Written(NamedTuple):
    """A write of shared keys by an event."""

    number: int
    key: SessionKey
    event_id: str
    delta: dict[str, Any]


class SharedChecks:
    """The checks of shared state, fed with one session after the other.

    Args:
        database: the open database.
    """

    def __init__(self, database: StoredDatabase) -> None:
        self._database = database
        self._writes: dict[SharedScope, list[_Written]] = {}
        self._has_gap = False
        self._has_order = True

    def add(self, facts: SessionFacts) -> None:
        """Note a session's writes."""
        self._has_order &= len(facts.rows) == len(facts.events)
        for place, event in enumerate(facts.events):
            self._has_gap |= has_unreadable_actions(event)
            for scope, shared in (("user", SharedScope(*facts.key[:2])), ("app", SharedScope(facts.key.app_name))):
                delta = {key: value for key, value in event.actions.state_delta.items() if scope_of(key) == scope}
                if delta and self._has_order:
                    self._writes.setdefault(shared, []).append(_Written(facts.rows[place].number, facts.key, event.id, delta))

    def findings(self) -> Iterator[Finding]:
        """Yield what is wrong with the state of apps and users, once all sessions are added."""
        for scope in self._database.shared_scopes():
            try:
                stored = self._database.shared_state(scope).values
            except StorageError:  # reported by the check of the rows
                continue
            for key in keys_with_secrets(stored):
                writer = next((each for each in reversed(self._writes.get(scope, ())) if key in each.delta), None)
                yield Finding("secret in state", "warning", *secret_sentences(key), writer and writer.key, writer and writer.event_id)
        if self._has_gap or not self._has_order:
            return
        for scope, writes in self._writes.items():
            try:
                stored = self._database.shared_state(scope).values
            except StorageError:
                continue
            yield from self._unexplained(writes, stored)

    def _unexplained(self, writes: list[_Written], stored: dict[str, Any]) -> Iterator[Finding]:
        explanation, writers = Explanation(), dict[str, _Written]()
        for write in sorted(writes, key=lambda write: write.number):
            explanation.add(write.delta)
            writers.update(dict.fromkeys(write.delta, write))
        for key in sorted(explanation.result(stored)[1]):
            last = writers[key]
            merged = key in stored and is_merged(self._database.layout.kind, stored[key], last.delta[key])
            if merged or self._is_set_without_event(key, last):
                continue
            value = preview(stored[key], _LONGEST) if key in stored else "missing"
            yield Finding(
                "state differs",
                "error",
                f"The stored value of {visible(key)} is {value}, and the last event that wrote it gave"
                f" {preview(last.delta[key], _LONGEST)}.",
                "Something wrote to the shared state without an event: the state at earlier events cannot be trusted.",
                "Find the program that writes to the tables itself. Setting the key in the window's state pane commits an event again.",
                last.key,
                last.event_id,
            )

    def _is_set_without_event(self, key: str, last: _Written) -> bool:
        """Return whether a session that was created after the last write may have set the key: creating one leaves no event."""
        time = next((event.timestamp for event in self._database.plain_events(last.key) if event.id == last.event_id), 0.0)
        for summary in self._database.listing():
            same = summary.key.app_name == last.key.app_name and (scope_of(key) == "app" or summary.key.user_id == last.key.user_id)
            # In the older layouts a creation time is UTC and an event's time local: a day more is safe.
            if same and summary.key != last.key and self._database.created(summary.key) >= time - 86_400:
                return True
        return False

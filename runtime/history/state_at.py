"""The state after any event of a session. This is the only way to compute it, on the only fold over history (`state_checkpoints.py`).

A session's own keys follow from its baseline and its events. `user:` and `app:` keys are written by other sessions too: their writes are
folded in at the place where they were committed. If a database did not record the first value of a key, the value is unknown until a
recorded write sets it. Unknown keys are listed, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runtime.events.marks import TEMP_GONE, begins_resumed_run, has_unreadable_actions
from runtime.history.explanation import Explanation
from runtime.history.scoped_state import ScopedState
from runtime.history.state_checkpoints import SharedWrite, StateAccumulator, StateCheckpoints
from runtime.history.steps import UNKNOWN_DELTA, LongSteps, Step, Steps, StepsOfEvents, step_of
from runtime.history.temp_states import TempStates, temp_part
from runtime.sessions.state import SCOPES, Change, Scope, scope_of

if TYPE_CHECKING:
    from runtime.events.event import Event

_STRIDES_AT_ONCE = 16  # strides of a long session read per call, so that other users of the reading thread do not wait

_NOTHING = object()


class History:
    """One session's history: plain data without a database. It can grow while the session runs.

    Args:
        events: the session's events, in commit order.
        baseline: the session's own first state; None if it is not recorded.
        shared: writes to `user:` and `app:` keys from elsewhere, in commit order.
        present: the present merged state; None if the events and the other arguments determine it.
        temp: `temp:` deltas by event id.
        temp_places: with `steps`, the places of these events: invocation id → index and event id, in order.
        fixed_from: for `user` and `app`: the event from which on every write is recorded.
        merge_patched_keys: keys that their writer changed by merge patches instead of replacing them.
        unexplained_keys: keys whose recorded writes do not explain their present value.
        steps: instead of `events`, the steps of a long session, read on demand. Call `read_on` until `is_read`; it determines
            `merge_patched_keys` and `unexplained_keys` itself.
    """

    def __init__(
        self,
        events: Iterable[Event],
        *,
        baseline: Mapping[str, Any] | None,
        shared: Iterable[SharedWrite] = (),
        present: Mapping[str, Any] | None = None,
        temp: Mapping[str, Mapping[str, Any]] | None = None,
        temp_places: Mapping[str, list[tuple[int, str]]] | None = None,
        fixed_from: Mapping[Scope, int] | None = None,
        merge_patched_keys: Iterable[str] = (),
        unexplained_keys: Iterable[str] = (),
        steps: Steps | None = None,
    ) -> None:
        self._events, shared = list(events), list(shared)
        self._shared: dict[int, list[SharedWrite]] = {}
        for write in shared:
            self._shared.setdefault(write.before, []).append(write)
        self._written_elsewhere: dict[str, int] = {}
        for before in sorted(self._shared):
            self._written_elsewhere.update((key, before) for write in self._shared[before] for key in write.delta)
        self._temp = self._read_temp(temp or {}, temp_places)
        self._unexplained_keys = frozenset(unexplained_keys)
        self._baseline = baseline
        start = StateAccumulator(dict(baseline or {}), set() if baseline is None else {"session"})
        known_steps = StepsOfEvents(self._events) if steps is None else LongSteps(steps, len(steps))
        self._checkpoints = StateCheckpoints(start, known_steps, self._shared, frozenset(merge_patched_keys))
        self._present = dict(present or {})
        # A session's own keys change only with its events, so their values after the last event are the present ones.
        self._last = len(self) - 1
        self._own_now = {key: value for key, value in self._present.items() if scope_of(key) == "session"}
        self._fixed_from = dict(fixed_from or {})
        written = {key for event in self._events for key in event.actions.state_delta if scope_of(key) != "temp"}
        has_gap = any(map(has_unreadable_actions, self._events)) or any(write.forgotten for write in shared)
        self._set_written(written.union(self._written_elsewhere), has_gap=has_gap)
        self._explanation = None if steps is None else Explanation()
        if self._explanation is not None:
            for write in self._shared.get(-1, ()):
                self._explanation.add(write.delta)

    def _read_temp(self, recorded: Mapping[str, Mapping[str, Any]], places: Mapping[str, list[tuple[int, str]]] | None) -> TempStates:
        deltas = {event.id: stored for event in self._events if (stored := temp_part(event))} | dict(recorded)
        found = dict(places or {})
        for index, event in enumerate(self._events if deltas else ()):
            if event.id in deltas:
                found.setdefault(event.invocation_id, []).append((index, event.id))
        return TempStates(deltas, found)

    def _set_written(self, written: set[str], *, has_gap: bool) -> None:
        self._keys = [*self._present, *(key for key in sorted(written) if key not in self._present)]
        # No recorded write sets these keys, so they have had their value throughout; shared keys since `fixed_from`.
        self._constant = {key: value for key, value in self._present.items() if key not in written and key not in self._unexplained_keys}
        if has_gap:
            self._constant = {}  # a write that cannot be read may have set them

    @property
    def is_read(self) -> bool:
        """Whether `state_at` can be called: always true, except for a long session that is still being read."""
        return self._explanation is None

    @property
    def read_count(self) -> int:
        """How many of a long session's steps have been read."""
        return self._checkpoints.read_count

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self._checkpoints.steps)

    def read_on(self) -> None:
        """Read more of a long session's steps. Call it on the thread that may read them."""
        for _ in range(_STRIDES_AT_ONCE):
            if self._explanation is None:
                return
            if self._checkpoints.read_on(self._explanation.add):
                self._finish_reading(self._explanation)

    def _finish_reading(self, explanation: Explanation) -> None:
        self._explanation = None
        if self._baseline is None:
            merge_patched_keys, unexplained_keys = explanation.result(self._present)
            self._unexplained_keys = frozenset(unexplained_keys)
            if merge_patched_keys:
                self._checkpoints.begin_again(frozenset(merge_patched_keys))
        self._set_written(set(explanation.keys), has_gap=explanation.has_gap)

    def writes_before(self, index: int) -> list[SharedWrite]:
        """Return the writes of others that were committed before an event."""
        return [write for before in sorted(self._shared) if before <= index for write in self._shared[before]]

    @property
    def events(self) -> Sequence[Event]:
        """The session's events, in commit order; empty for a long session, or one that has become long."""
        return self._events

    @property
    def baseline(self) -> Mapping[str, Any] | None:
        """The session's own first state; None if it is not recorded."""
        return self._baseline

    def whole_delta(self, index: int) -> dict[str, Any]:
        """Return an event's delta with complete values where its writer stored merge patches, without `temp:` keys.

        Args:
            index: the event's index.
        """
        delta = {key: value for key, value in self._step(index).delta.items() if scope_of(key) != "temp"}
        merged = self._checkpoints.merge_patched_keys.intersection(delta)
        after = self.state_at(index).merged() if merged else {}
        return {key: after.get(key) if key in merged else value for key, value in delta.items()}

    def temp_of(self, event_id: str) -> Mapping[str, Any]:
        """Return the recorded `temp:` keys that an event set."""
        return self._temp.set_by(event_id)

    def shared_until(self, index: int) -> list[SharedWrite]:
        """Return the writes of others to shared keys up to an event: all that a copy of the session up to there needs to know.

        A key without a recorded write is included from where its value is known.

        Args:
            index: the event's index; -1 for the session's creation.
        """
        writes = [write for before in sorted(self._shared) for write in self._shared[before] if before <= index]
        always: list[SharedWrite] = []
        for scope, first in self._fixed_from.items():
            values = {key: value for key, value in self._constant.items() if scope_of(key) == scope}
            if values and first <= index and not any(write.complete == scope and write.before <= first for write in writes):
                always.append(SharedWrite(first, values))
        return sorted([*always, *writes], key=lambda write: write.before)

    @property
    def steps_in_memory(self) -> int:
        """The number of steps that are not read from where they are stored."""
        steps = self._checkpoints.steps
        return steps.in_memory if isinstance(steps, LongSteps) else len(steps)

    def append(self, event: Event, temp: Mapping[str, Any] | None = None) -> None:
        """Add an event that was just committed.

        Args:
            event: the new event.
            temp: the `temp:` keys it set.
        """
        steps = self._checkpoints.steps
        if isinstance(steps, LongSteps):
            steps.append(event)
        else:
            self._events.append(event)
        if begins_resumed_run(event):
            temp = {TEMP_GONE: True, **(temp or {})}
        if temp:
            self._temp.add(len(self) - 1, event, temp)

    def hand_over(self, end: int, stored: Steps) -> None:
        """Drop the first events; their steps are read from where they are stored from now on.

        Args:
            end: the index of the first event that is kept.
            stored: the session's stored steps, at least up to `end`.
        """
        steps = self._checkpoints.steps
        if isinstance(steps, LongSteps):
            steps.hand_over(end)
        else:
            self._checkpoints.steps = LongSteps(stored, end, map(step_of, self._events[end:]))
            self._events = []

    def state_at(self, index: int) -> ScopedState:
        """Return the state right after an event was committed.

        Args:
            index: the event's index; -1 for the session's creation.

        Raises:
            IndexError: the event does not exist.
        """
        fold = self._checkpoints.after(index)
        if index == self._last and "session" not in fold.complete:
            shared = {key: value for key, value in fold.values.items() if scope_of(key) != "session"}
            fold = StateAccumulator({**shared, **self._own_now}, fold.complete)
        return self._by_scope(fold, index)

    def state_before(self, index: int) -> ScopedState:
        """Return the state right before an event was committed, with what others wrote since the event before it.

        Args:
            index: the event's index.

        Raises:
            IndexError: the event does not exist.
        """
        fold = self._checkpoints.after(index - 1).copy()
        fold.apply_shared(self._shared.get(index, ()), self._checkpoints.merge_patched_keys)
        return self._by_scope(fold, index - 1)

    def _by_scope(self, fold: StateAccumulator, index: int) -> ScopedState:
        parts: dict[Scope, dict[str, Any]] = {scope: {} for scope in SCOPES}
        unknown = []
        for key, value in self._known(fold, index).items():
            parts[scope_of(key)][key] = value
        for key in self._keys:
            scope = scope_of(key)
            if index == self._last and scope == "session":
                continue
            if key in self._unexplained_keys or (key not in parts[scope] and scope not in fold.complete):
                parts[scope].pop(key, None)
                unknown.append(key)
        return ScopedState(parts["session"], parts["user"], parts["app"], self._temp_after(index), unknown)

    def delta_at(self, index: int) -> list[Change]:
        """Return an event's changes: each key of its delta and each recorded `temp:` key, with the value it had before.

        A key whose earlier value is not recorded has the kind "written".

        Args:
            index: the event's index.

        Raises:
            IndexError: the event does not exist.
        """
        step = self._step(index)
        before = self._checkpoints.after(index - 1).copy()
        before.apply_shared(self._shared.get(index, ()), self._checkpoints.merge_patched_keys)
        known = {**self._known(before, index), **self._temp.after(index - 1, step.invocation_id)}
        after = before.copy()
        after.apply(step.delta, index, self._checkpoints.merge_patched_keys)
        stored = [key for key in step.delta if scope_of(key) != "temp"]
        changes = [self._change(key, known, before, after.values.get(key)) for key in stored]
        temp = self._temp.set_by(step.event_id)
        return changes + [self._change(key, known, before, value) for key, value in temp.items() if key != TEMP_GONE]

    def changes_of(self, name: str) -> Iterator[tuple[int, Change]]:
        """Yield each event's change of one key as `delta_at` has it, with the event's index; one pass over the events.

        Args:
            name: the key with its scope prefix.
        """
        steps = self._checkpoints.steps.read(0, len(self))
        yield from self._temp_changes_of(name, steps) if scope_of(name) == "temp" else self._stored_changes_of(name, steps)

    def _stored_changes_of(self, name: str, steps: Sequence[Step]) -> Iterator[tuple[int, Change]]:
        start, merged = self._checkpoints.start, self._checkpoints.merge_patched_keys
        fold = StateAccumulator({key: start.values[key] for key in (name,) if key in start.values}, set(start.complete))
        for index, step in enumerate(steps):
            for write in self._shared.get(index, ()):
                delta = {key: write.delta[key] for key in (name,) if key in write.delta}
                fold.apply_shared([replace(write, delta=delta)], merged)
            if name in step.delta:
                before = fold.copy()
                fold.apply({name: step.delta[name]}, index, merged)
                yield index, self._change(name, before.values, before, fold.values.get(name))
            elif step.delta is UNKNOWN_DELTA:
                fold.apply(step.delta, index, merged)

    def _temp_changes_of(self, name: str, steps: Sequence[Step]) -> Iterator[tuple[int, Change]]:
        known: dict[str, dict[str, Any]] = {}  # by invocation
        for index, step in enumerate(steps):
            written = self._temp.set_by(step.event_id)
            before = known.get(step.invocation_id, {})
            if name in written:
                yield index, self._change(name, before, self._checkpoints.start, written[name])
                known[step.invocation_id] = {name: written[name]}
            elif TEMP_GONE in written:
                known.pop(step.invocation_id, None)

    def writers_at(self, index: int) -> dict[str, int]:
        """Return the writer of each key in `state_at`: key → index of the event, or `SOMEBODY_ELSE`.

        A key without a recorded writer has had its value since the session's creation or since before the recording began.

        Args:
            index: as for `state_at`.
        """
        writers = dict(self._checkpoints.after(index).writers)
        if index >= 0 and self._temp:
            writers.update(self._temp.writers_after(index, self._step(index).invocation_id))
        return writers

    def changed_elsewhere_since(self, index: int) -> set[str]:
        """Return the `user:` and `app:` keys that were written outside this session's events after an event.

        Args:
            index: as for `state_at`.
        """
        return {key for key, before in self._written_elsewhere.items() if before > index}

    def _change(self, key: str, known: Mapping[str, Any], before: StateAccumulator, value: Any) -> Change:
        old = known.get(key, _NOTHING)
        if old is not _NOTHING and key not in self._unexplained_keys:
            return Change(key, old, value, "changed")
        scope = scope_of(key)
        if scope == "temp" or scope in before.complete:
            return Change(key, None, value, "added")
        return Change(key, None, value, "written")

    def _step(self, index: int) -> Step:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self._checkpoints.steps.read(index, index + 1)[0]

    def _known(self, fold: StateAccumulator, index: int) -> dict[str, Any]:
        """Return the folded keys and the constant ones."""
        constant = {}
        for key, value in self._constant.items():
            scope = scope_of(key)
            if scope not in fold.complete and (scope == "session" or index >= self._fixed_from.get(scope, len(self))):
                constant[key] = value
        return {**constant, **fold.values}

    def _temp_after(self, index: int) -> dict[str, Any]:
        return self._temp.after(index, self._step(index).invocation_id) if index >= 0 and self._temp else {}

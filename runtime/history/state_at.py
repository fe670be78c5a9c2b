"""The state after any event of a session: the only way to it, built on the only fold over history (`folds.py`).

A session's own keys follow from its baseline and its events. `user:` and `app:` keys are written by other sessions too: their writes are
folded in where they were committed. Where a database did not record what was there at the beginning, a key's value is unknown until
something that is recorded has written it; it is then listed, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runtime.events.event import Event
from runtime.events.marks import TEMP_GONE, begins_resumed_run
from runtime.history.explanation import Explanation
from runtime.history.scoped_state import ScopedState
from runtime.history.state_checkpoints import SharedWrite, StateAccumulator, StateCheckpoints
from runtime.history.steps import LongSteps, Step, Steps, StepsOfEvents, step_of
from runtime.history.temp_states import TempStates, temp_part
from runtime.sessions.state import SCOPES, Change, Scope, scope_of

_STRIDES_AT_ONCE = 16
"""Read in one go: what a long session's steps are read in must not keep others waiting."""

_NOTHING = object()


class History:
    """One session's past: plain data with no database behind it. It can grow with a session that is running.

    Args:
        events: the session's, in commit order.
        baseline: the session's own first state; None if it is not recorded.
        shared: what others wrote to `user:` and `app:`, in commit order.
        present: the merged state as it is now, None if the events and the rest say everything.
        temp: `temp:` deltas by event id.
        temp_places: with `steps`, where these events are: invocation id → index and event id, in order.
        fixed_from: for `user` and `app`: from which event on nobody can have written them unseen.
        patched: keys whose writer merged objects instead of replacing them.
        unsure: keys whose recorded writes do not explain their present value.
        steps: in place of `events`, those of a long session, read when they are needed; `read_on` has to be called until it is read, and
            finds `patched` and `unsure` itself.
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
        patched: Iterable[str] = (),
        unsure: Iterable[str] = (),
        steps: Steps | None = None,
    ) -> None:
        self._events = list(events)
        self._shared: dict[int, list[SharedWrite]] = {}
        for write in shared:
            self._shared.setdefault(write.before, []).append(write)
        self._written_elsewhere: dict[str, int] = {}
        for before in sorted(self._shared):
            self._written_elsewhere.update((key, before) for write in self._shared[before] for key in write.delta)
        self._temp = self._read_temp(temp or {}, temp_places)
        self._unsure = frozenset(unsure)
        self._baseline = baseline
        start = StateAccumulator(dict(baseline or {}), set() if baseline is None else {"session"})
        known_steps = StepsOfEvents(self._events) if steps is None else LongSteps(steps, len(steps))
        self._folds = StateCheckpoints(start, known_steps, self._shared, frozenset(patched))
        self._present = dict(present or {})
        # A session's own keys change with its events only: after the last one they are what they are now.
        self._last = len(self) - 1
        self._own_now = {key: value for key, value in self._present.items() if scope_of(key) == "session"}
        self._fixed_from = dict(fixed_from or {})
        written = {key for event in self._events for key in event.actions.state_delta if scope_of(key) != "temp"}
        self._set_written(written.union(self._written_elsewhere))
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

    def _set_written(self, written: set[str]) -> None:
        self._keys = [*self._present, *(key for key in sorted(written) if key not in self._present)]
        # Nothing recorded ever wrote these, so they have always had the value they have; for shared ones, from some event on.
        self._constant = {key: value for key, value in self._present.items() if key not in written and key not in self._unsure}

    @property
    def is_read(self) -> bool:
        """Whether `state_at` can answer: always, but for a long session."""
        return self._explanation is None

    @property
    def read_count(self) -> int:
        """How many of a long session's steps have been read."""
        return self._folds.read_count

    def __len__(self) -> int:
        """Return how many events there are."""
        return len(self._folds.steps)

    def read_on(self) -> None:
        """Read some more of a long session's steps; for the thread that may read them."""
        for _ in range(_STRIDES_AT_ONCE):
            if self._explanation is None:
                return
            if self._folds.read_on(self._explanation.add):
                self._finish_reading(self._explanation)

    def _finish_reading(self, explanation: Explanation) -> None:
        self._explanation = None
        if self._baseline is None:
            patched, unsure = explanation.result(self._present)
            self._unsure = frozenset(unsure)
            if patched:
                self._folds.begin_again(frozenset(patched))
        self._set_written(set(explanation.keys))

    @property
    def events(self) -> Sequence[Event]:
        """The session's events, in commit order; none of a long session, or of one that became long."""
        return self._events

    @property
    def baseline(self) -> Mapping[str, Any] | None:
        """The session's own first state; None if it is not recorded."""
        return self._baseline

    def whole_delta(self, index: int) -> dict[str, Any]:
        """Return an event's delta with whole values, where its writer merged objects (SEMANTICS.md 3); `temp:` keys left out.

        Args:
            index: of the event.
        """
        delta = {key: value for key, value in self._step(index).delta.items() if scope_of(key) != "temp"}
        merged = self._folds.patched.intersection(delta)
        after = self.state_at(index).merged() if merged else {}
        return {key: after.get(key) if key in merged else value for key, value in delta.items()}

    def temp_of(self, event_id: str) -> Mapping[str, Any]:
        """Return what an event set in `temp:`, as far as it was recorded."""
        return self._temp.set_by(event_id)

    def shared_until(self, index: int) -> list[SharedWrite]:
        """Return what others wrote to shared keys up to an event: all that a copy of the session up to there has to know of them.

        A key that nobody is known to have written is among them, from where its value is known.

        Args:
            index: of the event; -1 for the moment the session was created.
        """
        writes = [write for before in sorted(self._shared) for write in self._shared[before] if before <= index]
        always: list[SharedWrite] = []
        for scope, first in self._fixed_from.items():
            values = {key: value for key, value in self._constant.items() if scope_of(key) == scope}
            if values and first <= index and not any(write.complete == scope and write.before <= first for write in writes):
                always.append(SharedWrite(first, values))
        return sorted([*always, *writes], key=lambda write: write.before)

    def append(self, event: Event, temp: Mapping[str, Any] | None = None) -> None:
        """Add an event that was just committed.

        Args:
            event: the next one.
            temp: the `temp:` keys it set.
        """
        steps = self._folds.steps
        if isinstance(steps, LongSteps):
            steps.append(event)
        else:
            self._events.append(event)
        if begins_resumed_run(event):
            temp = {TEMP_GONE: True, **(temp or {})}
        if temp:
            self._temp.add(len(self) - 1, event, temp)

    def hand_over(self, end: int, stored: Steps) -> None:
        """Let go of the first events: from now on their steps are read from where they are stored.

        Args:
            end: the place of the first one that is kept.
            stored: the session's stored steps, those up to there at least.
        """
        steps = self._folds.steps
        if isinstance(steps, LongSteps):
            steps.hand_over(end)
        else:
            self._folds.steps = LongSteps(stored, end, map(step_of, self._events[end:]))
            self._events = []

    def state_at(self, index: int) -> ScopedState:
        """Return the state right after an event was committed.

        Args:
            index: of the event; -1 for the moment the session was created.

        Raises:
            IndexError: there is no such event.
        """
        fold = self._folds.after(index)
        if index == self._last and "session" not in fold.complete:
            shared = {key: value for key, value in fold.values.items() if scope_of(key) != "session"}
            fold = StateAccumulator({**shared, **self._own_now}, fold.complete)
        parts: dict[Scope, dict[str, Any]] = {scope: {} for scope in SCOPES}
        unknown = []
        for key, value in self._known(fold, index).items():
            parts[scope_of(key)][key] = value
        for key in self._keys:
            scope = scope_of(key)
            if index == self._last and scope == "session":
                continue
            if key in self._unsure or (key not in parts[scope] and scope not in fold.complete):
                parts[scope].pop(key, None)
                unknown.append(key)
        return ScopedState(parts["session"], parts["user"], parts["app"], self._temp_after(index), unknown)

    def delta_at(self, index: int) -> list[Change]:
        """Return what an event changed: every key of its delta, and of the `temp:` keys it set, with the value it had before.

        A key whose earlier value is not recorded has the kind "written".

        Args:
            index: of the event.

        Raises:
            IndexError: there is no such event.
        """
        step = self._step(index)
        before = self._folds.after(index - 1).copy()
        before.apply_shared(self._shared.get(index, ()), self._folds.patched)
        known = {**self._known(before, index), **self._temp.after(index - 1, step.invocation_id)}
        after = before.copy()
        after.apply(step.delta, index, self._folds.patched)
        stored = [key for key in step.delta if scope_of(key) != "temp"]
        changes = [self._change(key, known, before, after.values.get(key)) for key in stored]
        temp = self._temp.set_by(step.event_id)
        return changes + [self._change(key, known, before, value) for key, value in temp.items() if key != TEMP_GONE]

    def writers_at(self, index: int) -> dict[str, int]:
        """Return who wrote what `state_at` returns: key → index of the event, or `SOMEBODY_ELSE`.

        A key that is not in it has had its value since before anything was recorded, or since the session's creation.

        Args:
            index: as `state_at` takes it.
        """
        writers = dict(self._folds.after(index).writers)
        if index >= 0 and self._temp:
            writers.update(self._temp.writers_after(index, self._step(index).invocation_id))
        return writers

    def changed_elsewhere_since(self, index: int) -> set[str]:
        """Return the `user:` and `app:` keys that somebody else than this session's events has written since one of these.

        Args:
            index: as `state_at` takes it.
        """
        return {key for key, before in self._written_elsewhere.items() if before > index}

    def _change(self, key: str, known: Mapping[str, Any], before: StateAccumulator, value: Any) -> Change:
        old = known.get(key, _NOTHING)
        if old is not _NOTHING and key not in self._unsure:
            return Change(key, old, value, "changed")
        scope = scope_of(key)
        if scope == "temp" or scope in before.complete:
            return Change(key, None, value, "added")
        return Change(key, None, value, "written")

    def _step(self, index: int) -> Step:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self._folds.steps.read(index, index + 1)[0]

    def _known(self, fold: StateAccumulator, index: int) -> dict[str, Any]:
        """Return what is folded and what was always so."""
        constant = {}
        for key, value in self._constant.items():
            scope = scope_of(key)
            if scope not in fold.complete and (scope == "session" or index >= self._fixed_from.get(scope, len(self))):
                constant[key] = value
        return {**constant, **fold.values}

    def _temp_after(self, index: int) -> dict[str, Any]:
        return self._temp.after(index, self._step(index).invocation_id) if index >= 0 and self._temp else {}

"""The state after any event of a session: the only fold over history.

A session's own keys follow from its baseline and its events. `user:` and `app:` keys are written by other sessions too: their writes are
folded in where they were committed. Where a database did not record what was there at the beginning, a key's value is unknown until
something that is recorded has written it; it is then listed, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runtime.events.event import Event
from runtime.events.marks import TEMP_GONE, begins_resumed_run
from runtime.history.steps import LongSteps, Step, Steps, StepsOfEvents, step_of
from runtime.sessions.state import SCOPES, Change, Scope, State, diff, same_value, scope_of

_STRIDE = 256
"""Between two remembered states; the rest is folded again."""

_MOST_REMEMBERED = 1_000_000
"""Values in remembered states; beyond that every second state is forgotten."""

_STRIDES_AT_ONCE = 16
"""Read in one go: what a long session's steps are read in must not keep others waiting."""

SOMEBODY_ELSE = -2
"""In place of an event's index: another session wrote it."""

_NOTHING = object()


@dataclass(frozen=True, slots=True)
class ScopedState:
    """The state at one moment, by scope; keys with their prefixes.

    Attributes:
        session, user, app, temp: what is known.
        unknown: keys of any scope that were, or may have been, there with a value that nobody recorded.
    """

    session: dict[str, Any] = field(default_factory=dict)
    user: dict[str, Any] = field(default_factory=dict)
    app: dict[str, Any] = field(default_factory=dict)
    temp: dict[str, Any] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def merged(self) -> dict[str, Any]:
        """Return the known state of all stored scopes, as an agent sees it."""
        return {**self.session, **self.app, **self.user}


def differences(before: ScopedState, after: ScopedState) -> list[Change]:
    """Return how one state differs from another.

    A key whose value before is not recorded has the kind "written"; one whose value after is not recorded is left out.

    Args:
        before, after: at two moments of a session, or in two sessions.
    """
    changes = diff({**before.merged(), **before.temp}, {**after.merged(), **after.temp})
    unknown_before, unknown_after = set(before.unknown), set(after.unknown)
    return [
        Change(change.key, None, change.after, "written") if change.key in unknown_before else change
        for change in changes
        if change.key not in unknown_after
    ]


@dataclass(frozen=True, slots=True)
class SharedWrite:
    """What somebody else than this session's events wrote to `user:` and `app:`.

    Attributes:
        before: it was committed before this session's event of that index, and after the one before it; -1: by the session's creation
            or earlier.
        delta: keys with prefix.
        complete: it is not a change but all that this scope had at that moment.
    """

    before: int
    delta: Mapping[str, Any]
    complete: Scope | None = None


@dataclass(slots=True)
class _Fold:
    """A state on its way through history.

    `complete`: the scopes of which every key is known; `writers`: key → index of the event that wrote it last, or `SOMEBODY_ELSE`.
    """

    values: dict[str, Any]
    complete: set[Scope]
    writers: dict[str, int] = field(default_factory=dict)

    def copy(self) -> _Fold:
        return _Fold(dict(self.values), set(self.complete), dict(self.writers))


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
        self._steps: StepsOfEvents | LongSteps = StepsOfEvents(self._events) if steps is None else LongSteps(steps, len(steps))
        self._stride = _STRIDE
        self._shared: dict[int, list[SharedWrite]] = {}
        for write in shared:
            self._shared.setdefault(write.before, []).append(write)
        self._written_elsewhere: dict[str, int] = {}
        for before in sorted(self._shared):
            self._written_elsewhere.update((key, before) for write in self._shared[before] for key in write.delta)
        # Up to 1.16 google-adk stored what was written to `temp:` in the event's delta.
        self._temp = {event.id: stored for event in self._events if (stored := _temp_part(event))} | dict(temp or {})
        self._temp_places = {name: list(places) for name, places in (temp_places or {}).items()}
        if self._temp and steps is None:
            for index, event in enumerate(self._events):
                if event.id in self._temp:
                    self._temp_places.setdefault(event.invocation_id, []).append((index, event.id))
        self._patched = frozenset(patched)
        self._unsure = frozenset(unsure)
        written = {key for event in self._events for key in event.actions.state_delta if scope_of(key) != "temp"}
        written.update(key for writes in self._shared.values() for write in writes for key in write.delta)
        present = dict(present or {})
        self._present = present
        # A session's own keys change with its events only: after the last one they are what they are now.
        self._last = len(self._steps) - 1
        self._own_now = {key: value for key, value in present.items() if scope_of(key) == "session"}
        self._set_written(written)
        self._fixed_from = dict(fixed_from or {})
        self._baseline = baseline
        complete: set[Scope] = {"session"} if baseline is not None else set()
        self._start = _Fold(dict(baseline) if baseline is not None else {}, complete)
        self._apply_shared(self._start, -1)
        self._remembered = [self._start]
        self._explanation = None if steps is None else Explanation()
        if self._explanation is not None:
            for write in self._shared.get(-1, ()):
                self._explanation.add(write.delta)

    def _set_written(self, written: Iterable[str]) -> None:
        written = set(written)
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
        return min((len(self._remembered) - 1) * self._stride, len(self))

    def __len__(self) -> int:
        """Return how many events there are."""
        return len(self._steps)

    def read_on(self) -> None:
        """Read some more of a long session's steps; for the thread that may read them."""
        if self._explanation is None:
            return
        for _ in range(_STRIDES_AT_ONCE):
            if len(self._remembered) * self._stride > len(self):
                self._finish_reading(self._explanation)
                return
            self._remember_next(self._explanation)

    def _finish_reading(self, explanation: Explanation) -> None:
        first = (len(self._remembered) - 1) * self._stride
        self._advance(self._remembered[-1], first - 1, len(self) - 1, explanation)
        self._explanation = None
        if "session" not in self._start.complete:
            patched, unsure = explanation.result(self._present)
            self._unsure = frozenset(unsure)
            if patched:  # what was folded so far took them for plain values
                self._patched = frozenset(patched)
                self._remembered = [self._start]
        self._set_written(explanation.keys)

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
        merged = self._patched.intersection(delta)
        after = self.state_at(index).merged() if merged else {}
        return {key: after.get(key) if key in merged else value for key, value in delta.items()}

    def temp_of(self, event_id: str) -> Mapping[str, Any]:
        """Return what an event set in `temp:`, as far as it was recorded."""
        return self._temp.get(event_id, {})

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
        if isinstance(self._steps, LongSteps):
            self._steps.append(event)
        else:
            self._events.append(event)
        if begins_resumed_run(event):
            temp = {TEMP_GONE: True, **(temp or {})}
        if temp:
            self._temp[event.id] = temp
            self._temp_places.setdefault(event.invocation_id, []).append((len(self) - 1, event.id))

    def hand_over(self, end: int, stored: Steps) -> None:
        """Let go of the first events: from now on their steps are read from where they are stored.

        Args:
            end: the place of the first one that is kept.
            stored: the session's stored steps, those up to there at least.
        """
        if isinstance(self._steps, LongSteps):
            self._steps.hand_over(end)
        else:
            self._steps = LongSteps(stored, end, map(step_of, self._events[end:]))
            self._events = []

    def state_at(self, index: int) -> ScopedState:
        """Return the state right after an event was committed.

        Args:
            index: of the event; -1 for the moment the session was created.

        Raises:
            IndexError: there is no such event.
        """
        fold = self._fold(index)
        if index == self._last and "session" not in fold.complete:
            shared = {key: value for key, value in fold.values.items() if scope_of(key) != "session"}
            fold = _Fold({**shared, **self._own_now}, fold.complete)
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
        return ScopedState(parts["session"], parts["user"], parts["app"], self._temp_at(index), unknown)

    def delta_at(self, index: int) -> list[Change]:
        """Return what an event changed: every key of its delta, and of the `temp:` keys it set, with the value it had before.

        A key whose earlier value is not recorded has the kind "written".

        Args:
            index: of the event.

        Raises:
            IndexError: there is no such event.
        """
        step = self._step(index)
        before = self._fold(index - 1).copy()
        self._apply_shared(before, index)
        known = {**self._known(before, index), **self._temp_at(index - 1, step.invocation_id)}
        after = before.copy()
        self._apply(after, step.delta, index)
        stored = [key for key in step.delta if scope_of(key) != "temp"]
        changes = [self._change(key, known, before, after.values.get(key)) for key in stored]
        changes += [self._change(key, known, before, value) for key, value in self._temp.get(step.event_id, {}).items() if key != TEMP_GONE]
        return changes

    def writers_at(self, index: int) -> dict[str, int]:
        """Return who wrote what `state_at` returns: key → index of the event, or `SOMEBODY_ELSE`.

        A key that is not in it has had its value since before anything was recorded, or since the session's creation.

        Args:
            index: as `state_at` takes it.
        """
        writers = dict(self._fold(index).writers)
        if index >= 0:
            for place, event_id in self._temp_places.get(self._step(index).invocation_id, ()):
                if place <= index:
                    writers.update(dict.fromkeys(self._temp[event_id], place))
        writers.pop(TEMP_GONE, None)
        return writers

    def changed_elsewhere_since(self, index: int) -> set[str]:
        """Return the `user:` and `app:` keys that somebody else than this session's events has written since one of these.

        Args:
            index: as `state_at` takes it.
        """
        return {key for key, before in self._written_elsewhere.items() if before > index}

    def _change(self, key: str, known: Mapping[str, Any], before: _Fold, value: Any) -> Change:
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
        return self._steps.read(index, index + 1)[0]

    def _fold(self, index: int) -> _Fold:
        """Return the state after event `index`; not to be changed."""
        if not -1 <= index < len(self):
            raise IndexError(index)
        while len(self._remembered) <= (index + 1) // self._stride:
            self._remember_next()
        number = (index + 1) // self._stride
        return self._advance(self._remembered[number], number * self._stride - 1, index)

    def _remember_next(self, explanation: Explanation | None = None) -> None:
        last = (len(self._remembered) - 1) * self._stride - 1
        following = self._advance(self._remembered[-1], last, last + self._stride, explanation)
        self._remembered.append(following)
        if len(self._remembered) * len(following.values) > _MOST_REMEMBERED and len(self._remembered) % 2:
            self._remembered = self._remembered[::2]
            self._stride *= 2

    def _advance(self, start: _Fold, begin: int, end: int, explanation: Explanation | None = None) -> _Fold:
        if begin == end:
            return start
        fold = start.copy()
        for index, step in enumerate(self._steps.read(begin + 1, end + 1), begin + 1):
            self._apply_shared(fold, index)
            self._apply(fold, step.delta, index)
            if explanation is not None:
                for write in self._shared.get(index, ()):
                    explanation.add(write.delta)
                explanation.add(step.delta)
        return fold

    def _apply_shared(self, fold: _Fold, index: int) -> None:
        for write in self._shared.get(index, ()):
            if write.complete:
                for key in [key for key in fold.values if scope_of(key) == write.complete]:
                    del fold.values[key]
                fold.complete.add(write.complete)
            self._apply(fold, write.delta, SOMEBODY_ELSE if index >= 0 else None)

    def _apply(self, fold: _Fold, delta: Mapping[str, Any], writer: int | None) -> None:
        for key, value in delta.items():
            if key.startswith(State.TEMP_PREFIX):
                continue
            if writer is not None:
                fold.writers[key] = writer
            if key not in self._patched:
                fold.values[key] = value
            elif value is None:
                fold.values.pop(key, None)
            else:
                fold.values[key] = merge_patch(fold.values.get(key), value)

    def _known(self, fold: _Fold, index: int) -> dict[str, Any]:
        """Return what is folded and what was always so."""
        constant = {}
        for key, value in self._constant.items():
            scope = scope_of(key)
            if scope not in fold.complete and (scope == "session" or index >= self._fixed_from.get(scope, len(self))):
                constant[key] = value
        return {**constant, **fold.values}

    def _temp_at(self, index: int, invocation_id: str | None = None) -> dict[str, Any]:
        """Return the `temp:` keys after an event, which live as long as its invocation, or until it is interrupted."""
        if index < 0 or not self._temp_places:
            return {}
        temp: dict[str, Any] = {}
        for place, event_id in self._temp_places.get(invocation_id or self._step(index).invocation_id, ()):
            if place <= index:
                written = self._temp[event_id]
                if TEMP_GONE in written:
                    temp.clear()
                temp.update(written)
        temp.pop(TEMP_GONE, None)
        return temp


def _temp_part(event: Event) -> dict[str, Any]:
    return {key: value for key, value in event.actions.state_delta.items() if key.startswith(State.TEMP_PREFIX)}


def merge_patch(old: Any, patch: Any) -> Any:
    """Return `old` changed by a JSON merge patch, as google-adk's SqliteSessionService up to 2.7 updated state (SEMANTICS.md 3)."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(old) if isinstance(old, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


class Explanation:
    """Finds the keys whose recorded writes do not simply end in the present value, from the writes one after the other."""

    def __init__(self) -> None:
        self._last: dict[str, Any] = {}
        self._merged: dict[str, Any] = {}

    @property
    def keys(self) -> Iterable[str]:
        """Every key that was written."""
        return self._last.keys()

    def add(self, delta: Mapping[str, Any]) -> None:
        """Take in the next write."""
        for key, value in delta.items():
            self._last[key] = value
            # Only objects can be merged: a plain value is what a merge leaves, too.
            self._merged[key] = merge_patch(self._merged.get(key), value) if isinstance(value, dict) else value

    def result(self, present: Mapping[str, Any]) -> tuple[set[str], set[str]]:
        """Return the keys that merge patches explain, and those that nothing explains.

        Args:
            present: the merged state now.
        """
        patched: set[str] = set()
        unsure: set[str] = set()
        for key, last in self._last.items():
            now = present.get(key, _NOTHING)
            if now is not _NOTHING and same_value(last, now):
                continue
            merged = self._merged[key]
            explained = merged is None if now is _NOTHING else same_value(merged, now)
            (patched if explained else unsure).add(key)
        return patched, unsure


def explain(writes: Mapping[str, Sequence[Any]], present: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """Find the keys whose recorded writes do not simply end in the present value.

    Args:
        writes: key → all values written to it, in commit order.
        present: the merged state now.

    Returns:
        Keys that merge patches explain, and keys that nothing explains.
    """
    explanation = Explanation()
    for key, values in writes.items():
        for value in values:
            explanation.add({key: value})
    return explanation.result(present)

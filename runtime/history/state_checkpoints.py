"""Replay of a session's events into its state, with the state remembered every few hundred events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from runtime.history.explanation import merge_patch
from runtime.history.steps import UNKNOWN_DELTA, LongSteps, StepsOfEvents
from runtime.sessions.state import Scope, State, scope_of

_STRIDE = 256  # events between two remembered states; the events in between are folded again

_MOST_REMEMBERED = 1_000_000  # values in all remembered states; beyond it, every second state is dropped

SOMEBODY_ELSE = -2  # instead of an event's index: another session wrote the key


@dataclass(frozen=True, slots=True)
class SharedWrite:
    """A write to `user:` or `app:` keys that is not one of this session's events.

    Attributes:
        before: the index of this session's first event committed after it; -1: committed at or before the session's creation.
        delta: keys with their prefix.
        complete: the scope whose whole contents `delta` holds; None if it is a change.
        forgotten: scopes that it may have changed, if it cannot be read.
    """

    before: int
    delta: Mapping[str, Any]
    complete: Scope | None = None
    forgotten: tuple[Scope, ...] = ()


@dataclass(slots=True)
class StateAccumulator:
    """A state during a fold.

    Attributes:
        values: all known keys that recorded writes have set.
        complete: the scopes whose keys are all known.
        writers: key → index of the event that wrote it last, or `SOMEBODY_ELSE`.
        has_gap: whether a write that cannot be read came before.
    """

    values: dict[str, Any]
    complete: set[Scope]
    writers: dict[str, int] = field(default_factory=dict)
    has_gap: bool = False

    def copy(self) -> StateAccumulator:
        """Return an independent copy."""
        return StateAccumulator(dict(self.values), set(self.complete), dict(self.writers), self.has_gap)

    def apply(self, delta: Mapping[str, Any], writer: int | None, merge_patched_keys: frozenset[str]) -> None:
        """Apply one write without its `temp:` keys.

        Args:
            delta: keys with their prefix.
            writer: index of the event, or `SOMEBODY_ELSE`; None: the value existed from the beginning.
            merge_patched_keys: keys that their writer changed by merge patches instead of replacing them.
        """
        if delta is UNKNOWN_DELTA:
            self.forget(("session", "user", "app"))
            return
        for key, value in delta.items():
            if key.startswith(State.TEMP_PREFIX):
                continue
            if writer is not None:
                self.writers[key] = writer
            if key not in merge_patched_keys:
                self.values[key] = value
            elif value is None:
                self.values.pop(key, None)
            else:
                self.values[key] = merge_patch(self.values.get(key), value)

    def forget(self, scopes: Collection[Scope]) -> None:
        """Forget the keys of some scopes: a write that cannot be read may have changed them."""
        self.has_gap = True
        self.complete.difference_update(scopes)
        for key in [key for key in self.values if scope_of(key) in scopes]:
            del self.values[key]
            self.writers.pop(key, None)

    def apply_shared(self, writes: Iterable[SharedWrite], merge_patched_keys: frozenset[str]) -> None:
        """Apply the writes of others between two events.

        Args:
            writes: in commit order.
            merge_patched_keys: as for `apply`.
        """
        for write in writes:
            if write.complete:
                for key in [key for key in self.values if scope_of(key) == write.complete]:
                    del self.values[key]
                self.complete.add(write.complete)
            if write.forgotten:
                self.forget(write.forgotten)
            self.apply(write.delta, SOMEBODY_ELSE if write.before >= 0 else None, merge_patched_keys)


class StateCheckpoints:
    """The state after each event. Some states are remembered; the others are folded from the previous remembered one on demand.

    Args:
        start: the state at the session's creation, without the writes of others.
        steps: the session's steps.
        shared: index of an event → writes of others before it.
        merge_patched_keys: keys that their writer changed by merge patches instead of replacing them.

    Attributes:
        start: the state at the session's creation.
        steps, merge_patched_keys: as given.
    """

    def __init__(
        self,
        start: StateAccumulator,
        steps: StepsOfEvents | LongSteps,
        shared: Mapping[int, list[SharedWrite]],
        merge_patched_keys: frozenset[str],
    ) -> None:
        self.steps = steps
        self.merge_patched_keys = merge_patched_keys
        self.start = start
        self._shared = shared
        start.apply_shared(shared.get(-1, ()), merge_patched_keys)
        self._stride = _STRIDE
        self._remembered = [start]

    @property
    def read_count(self) -> int:
        """How many steps the remembered states cover."""
        return min((len(self._remembered) - 1) * self._stride, len(self.steps))

    def after(self, index: int) -> StateAccumulator:
        """Return the state after an event; do not change it.

        Args:
            index: the event's index; -1 for the session's creation.

        Raises:
            IndexError: the event does not exist.
        """
        if not -1 <= index < len(self.steps):
            raise IndexError(index)
        while len(self._remembered) <= (index + 1) // self._stride:
            self._remember_next(None)
        number = (index + 1) // self._stride
        return self._advance(self._remembered[number], number * self._stride - 1, index, None)

    def read_on(self, take: Callable[[Mapping[str, Any]], None]) -> bool:
        """Fold and remember one more stride; return whether all steps are read.

        Args:
            take: called with every delta on the way, including those of others.
        """
        if len(self._remembered) * self._stride <= len(self.steps):
            self._remember_next(take)
            return False
        self._advance(self._remembered[-1], (len(self._remembered) - 1) * self._stride - 1, len(self.steps) - 1, take)
        return True

    def begin_again(self, merge_patched_keys: frozenset[str]) -> None:
        """Drop the remembered states: they were folded without merging these keys."""
        self.merge_patched_keys = merge_patched_keys
        self._remembered = [self.start]

    def _remember_next(self, take: Callable[[Mapping[str, Any]], None] | None) -> None:
        last = (len(self._remembered) - 1) * self._stride - 1
        following = self._advance(self._remembered[-1], last, last + self._stride, take)
        self._remembered.append(following)
        if len(self._remembered) * len(following.values) > _MOST_REMEMBERED and len(self._remembered) % 2:
            self._remembered = self._remembered[::2]
            self._stride *= 2

    def _advance(self, start: StateAccumulator, begin: int, end: int, take: Callable[[Mapping[str, Any]], None] | None) -> StateAccumulator:
        """Return the state after event `end`, from the one after event `begin`."""
        if begin == end:
            return start
        fold, shared, merge_patched_keys = start.copy(), self._shared, self.merge_patched_keys
        for index, delta in enumerate(self.steps.deltas(begin + 1, end + 1), begin + 1):
            writes = shared.get(index, ())
            if writes:
                fold.apply_shared(writes, merge_patched_keys)
            fold.apply(delta, index, merge_patched_keys)
            if take is not None:
                for write in writes:
                    take(write.delta)
                take(delta)
        return fold

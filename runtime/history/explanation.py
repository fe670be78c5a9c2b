"""Which recorded writes explain a key's present value: as plain values, as merge patches, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runtime.history.steps import UNKNOWN_DELTA
from runtime.sessions.state import same_value

_NOTHING = object()


def merge_patch(old: Any, patch: Any) -> Any:
    """Return `old` changed by a JSON merge patch, as google-adk's SqliteSessionService updated state up to 2.7."""
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
    """A search for keys whose recorded writes do not simply end in the present value. Writes are added one after the other."""

    def __init__(self) -> None:
        self._last: dict[str, Any] = {}
        self._merged: dict[str, Any] = {}
        self.has_gap = False  # whether a write cannot be read

    @property
    def keys(self) -> Iterable[str]:
        """Every key that was written."""
        return self._last.keys()

    def add(self, delta: Mapping[str, Any]) -> None:
        """Add the next write."""
        self.has_gap |= delta is UNKNOWN_DELTA
        for key, value in delta.items():
            self._last[key] = value
            # Only objects are merged; a plain value replaces the old one in a merge patch, too.
            self._merged[key] = merge_patch(self._merged.get(key), value) if isinstance(value, dict) else value

    def result(self, present: Mapping[str, Any]) -> tuple[set[str], set[str]]:
        """Return the keys that merge patches explain, and the keys that nothing explains.

        Args:
            present: the present merged state.
        """
        merge_patched_keys: set[str] = set()
        unexplained_keys: set[str] = set()
        for key, last in self._last.items():
            now = present.get(key, _NOTHING)
            if now is not _NOTHING and same_value(last, now):
                continue
            merged = self._merged[key]
            explained = merged is None if now is _NOTHING else same_value(merged, now)
            (merge_patched_keys if explained else unexplained_keys).add(key)
        return merge_patched_keys, unexplained_keys


def explain(writes: Mapping[str, Sequence[Any]], present: Mapping[str, Any]) -> tuple[set[str], set[str]]:
    """Find the keys whose recorded writes do not simply end in the present value.

    Args:
        writes: key → all values written to it, in commit order.
        present: the present merged state.

    Returns:
        Keys that merge patches explain, and keys that nothing explains.
    """
    explanation = Explanation()
    for key, values in writes.items():
        for value in values:
            explanation.add({key: value})
    return explanation.result(present)

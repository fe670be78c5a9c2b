"""The state at one moment, and the differences between two states."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from runtime.sessions.state import Change, diff


@dataclass(frozen=True, slots=True)
class ScopedState:
    """The state at one moment, by scope. Keys have their prefixes.

    Attributes:
        session, user, app, temp: the known values.
        unknown: keys of any scope that exist, or may exist, with a value that was not recorded.
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
    """Return the differences between two states.

    A key whose earlier value is not recorded has the kind "written"; a key whose later value is not recorded is left out.

    Args:
        before, after: the states at two moments of a session, or of two sessions.
    """
    changes = diff({**before.merged(), **before.temp}, {**after.merged(), **after.temp})
    unknown_before, unknown_after = set(before.unknown), set(after.unknown)
    return [
        Change(change.key, None, change.after, "written") if change.key in unknown_before else change
        for change in changes
        if change.key not in unknown_after
    ]

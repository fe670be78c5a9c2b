"""The state at one moment, and how two of them differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from runtime.sessions.state import Change, diff


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

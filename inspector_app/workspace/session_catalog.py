"""The sessions of the open databases: summaries, forks, marks, pending items."""

from __future__ import annotations

from runtime.history.invocations import PendingItem


def mark_of(items: list[PendingItem]) -> str:
    """Return the mark of a session in which these wait."""
    return items[-1].kind if items else "finished"

"""Commands that are disabled with a reason."""

from __future__ import annotations

from PySide6.QtGui import QAction, QKeySequence

from inspector_app.widgets.tooltips import action_tooltip, set_action_tooltip

BLOCKED = "blocked"  # property of an action: why it is disabled; empty if it is enabled


def allow(action: QAction, blocked: str | None, does: str = "") -> None:
    """Enable an action, or disable it and explain why in its tooltip.

    Args:
        action: the action to change.
        blocked: why the action is unavailable; None to enable it.
        does: what the action does, if its name does not say it.
    """
    key = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
    name = action.text() + (f" ({key})" if key else "")
    tooltip = "\n".join(filter(None, (name, blocked or does)))
    if action.isEnabled() == (blocked is None) and action.property(BLOCKED) == (blocked or "") and action_tooltip(action) == tooltip:
        return  # asked with each selected event, and setting a property reports a change to all buttons of the action
    action.setEnabled(blocked is None)
    action.setProperty(BLOCKED, blocked or "")
    set_action_tooltip(action, tooltip)

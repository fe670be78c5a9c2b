"""Tooltips of widgets, which screen readers get as plain text."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QWidget

from inspector_app.presentation.values import plain_tooltip, visible_lines

_TEXT = "tooltip_text"  # property of an action: its tooltip without markup


def set_tooltip(widget: QWidget, text: str) -> None:
    """Show a text literally in a widget's tooltip.

    The text also becomes the widget's accessible description: without one, Qt gives screen readers the tooltip's markup.

    Args:
        widget: the widget.
        text: plain text; empty for no tooltip.
    """
    widget.setToolTip(plain_tooltip(text))
    widget.setAccessibleDescription(visible_lines(text))


def set_action_tooltip(action: QAction, text: str) -> None:
    """Show a text literally in the tooltip of an action and of its buttons."""
    action.setProperty(_TEXT, text)  # first, as the tooltip reports the change
    action.setToolTip(plain_tooltip(text))


def action_tooltip(action: QAction) -> str:
    """Return what `set_action_tooltip` was given; empty before."""
    return action.property(_TEXT) or ""


def describe_by(button: QAbstractButton, action: QAction) -> None:
    """Keep a button's accessible description equal to the tooltip of its action, without markup."""

    def describe() -> None:
        button.setAccessibleDescription(visible_lines(action_tooltip(action)))

    action.changed.connect(describe)
    describe()

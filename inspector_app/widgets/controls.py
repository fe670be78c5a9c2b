"""Labels of plain text and buttons with an accessible name, each made in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QLabel, QPushButton, QWidget


def plain_label(text: str = "", name: str = "", role: str = "", *, wraps: bool = False, parent: QWidget | None = None) -> QLabel:
    """Return a label whose text is never read as HTML.

    Args:
        text: its text.
        name: its object name; empty for none.
        role: of its text, for the style sheet; empty for that of usual text.
        wraps: whether a long text has several lines.
        parent: its parent.
    """
    label = QLabel(text, parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(wraps)
    if name:
        label.setObjectName(name)
    if role:
        label.setProperty("role", role)
    return label


def push_button(
    text: str,
    name: str,
    slot: Callable[..., Any] | SignalInstance | None = None,
    *,
    icon: QIcon | None = None,
    does: str | None = None,
    primary: bool = False,
    default: bool = False,
    parent: QWidget | None = None,
) -> QPushButton:
    """Return a button.

    Args:
        text: its text.
        name: its object name.
        slot: called when it is clicked, or a signal that is emitted then.
        icon: see `theme.icon`.
        does: its accessible name; None: its text.
        primary: whether it is the page's or the dialog's main button, which is painted in the accent colour.
        default: whether Enter presses it anywhere in a dialog.
        parent: its parent.
    """
    button = QPushButton(text, parent)
    if icon is not None:
        button.setIcon(icon)
    button.setObjectName(name)
    button.setAccessibleName(text if does is None else does)
    if primary:
        button.setProperty("primary", True)
    if default:
        button.setDefault(True)
    if slot is not None:
        button.clicked.connect(slot)
    return button

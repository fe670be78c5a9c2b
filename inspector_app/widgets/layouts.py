"""Widgets with their names, and rows and columns with what they hold, each made in one call."""

from __future__ import annotations

from typing import Any, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QDialog, QFrame, QLayout, QVBoxLayout, QWidget

_Widget = TypeVar("_Widget", bound=QWidget)
_Layout = TypeVar("_Layout", bound=QBoxLayout)

Content = QWidget | QLayout
Part = Content | int | tuple[Content, int] | tuple[QWidget, int, Qt.AlignmentFlag]


def named(widget: _Widget, name: str, title: str = "") -> _Widget:
    """Return a widget with its names.

    Args:
        widget: the widget.
        name: its object name.
        title: its accessible name; empty: none.
    """
    widget.setObjectName(name)
    if title:
        widget.setAccessibleName(title)
    return widget


def laid_out(layout: _Layout, *parts: Part, margins: int | tuple[int, int, int, int] | None = None, spacing: int | None = None) -> _Layout:
    """Return a row or column that holds some parts.

    Args:
        layout: the row or column.
        parts: widgets and layouts, each alone, with its stretch, or with its stretch and alignment; a number is a stretch of its own.
        margins: left, top, right and bottom, or one number for all; None: those of the style.
        spacing: between the parts; None: that of the style.
    """
    if margins is not None:
        layout.setContentsMargins(*((margins,) * 4 if isinstance(margins, int) else margins))
    if spacing is not None:
        layout.setSpacing(spacing)
    for part in parts:
        if isinstance(part, int):
            layout.addStretch(part)
            continue
        place: list[Any]
        content, *place = part if isinstance(part, tuple) else (part,)
        if isinstance(content, QLayout):
            layout.addLayout(content, *place)
        else:
            layout.addWidget(content, *place)
    return layout


def card(inside: QWidget | QLayout) -> QFrame:
    """Return a frame around a widget or a layout."""
    made = QFrame()
    made.setProperty("card", "true")
    laid_out(QVBoxLayout(made), inside, margins=1)
    return made


def set_up_dialog(dialog: QDialog, name: str, title: str, width: int, height: int) -> None:
    """Name a dialog that is deleted when it is closed.

    Args:
        dialog: the dialog.
        name: its object name.
        title: its window title.
        width, height: its first size, in pixels; 0: as large as its content needs.
    """
    dialog.setObjectName(name)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(title)
    dialog.resize(width, height)

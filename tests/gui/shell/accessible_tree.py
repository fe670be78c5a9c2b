"""What screen readers get of a window: each visible part with its role, name and description."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QWidget

MOST_CHILDREN = 60  # of a table or list


@dataclass(frozen=True, slots=True)
class Heard:
    """One part: the object name of its widget, if it has one, and what a screen reader says."""

    role: str
    name: str
    description: str
    widget: str
    is_focusable: bool


def heard_in(window: QWidget) -> Iterator[Heard]:
    """Yield the visible parts of a window, from the top."""
    interface = QAccessible.queryAccessibleInterface(window)
    assert interface is not None
    yield from _walk(interface)


def _walk(part: QAccessibleInterface) -> Iterator[Heard]:
    widget = part.object()
    if not part.isValid() or part.state().invisible or (isinstance(widget, QWidget) and not widget.isVisible()):
        return
    name, description = part.text(QAccessible.Text.Name), part.text(QAccessible.Text.Description)
    if name or description or part.state().focusable:
        yield Heard(part.role().name, name, description, widget.objectName() if widget is not None else "", bool(part.state().focusable))
    for number in range(min(part.childCount(), MOST_CHILDREN)):
        child = part.child(number)
        if child is not None:
            yield from _walk(child)

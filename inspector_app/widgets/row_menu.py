"""Opens the menu of a row: of the one under the mouse, or of the current one when the keyboard asks for it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QModelIndex, QObject
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QAbstractItemView, QMenu


class RowMenu(QObject):
    """Takes the place of Qt's own requests, whose position is below the current row when the Menu key is pressed in a view with a header.

    Args:
        view: a list, a table or a tree.
        menu_of: returns the menu of a row, None where there is none.
    """

    def __init__(self, view: QAbstractItemView, menu_of: Callable[[QModelIndex], QMenu | None]) -> None:
        super().__init__(view)
        self._view = view
        self._menu_of = menu_of
        for part in (view, view.viewport()):  # the keyboard asks the one, the mouse the other
            part.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Open the menu."""
        if not isinstance(event, QContextMenuEvent):
            return False
        view = self._view
        position = event.pos()
        index = view.indexAt(position)
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            index = view.currentIndex()
            view.scrollTo(index)
            position = view.visualRect(index).intersected(view.viewport().rect()).center()
        menu = self._menu_of(index)
        if menu is not None:
            menu.popup(view.viewport().mapToGlobal(position))
        return True

"""The context menu of a row, opened with the mouse or the keyboard."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QAbstractItemView, QMenu, QWidget


class RowMenu(QObject):
    """An event filter that opens the menu of the row under the mouse, or of the current row for the Menu key.

    Qt's own request is not used: in a view with a header, its position for the Menu key is below the current row.

    Args:
        view: a list, table or tree.
        menu_of: returns the menu of a row, or None if the row has none.
    """

    def __init__(self, view: QAbstractItemView, menu_of: Callable[[QModelIndex], QMenu | None]) -> None:
        super().__init__(view)
        self._view = view
        self._menu_of = menu_of
        for part in (view, view.viewport()):  # keyboard requests go to the view, mouse requests to its viewport
            part.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Open the menu at the row."""
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


def passing_menu(parent: QWidget) -> QMenu:
    """Return an empty menu that is deleted when it is closed."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu

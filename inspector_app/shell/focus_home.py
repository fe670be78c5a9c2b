"""Keyboard focus when the focused widget is hidden: Qt would move it to the next widget, such as a button of the tool bar."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid


class FocusHome(QObject):
    """Moves the focus to a fixed widget when a card that has it is hidden.

    Args:
        home: the widget that gets the focus. Code may still move the focus elsewhere afterwards.
        cards: the cards to watch.
    """

    def __init__(self, home: QWidget, cards: Sequence[QWidget]) -> None:
        super().__init__(home)
        self._home = home
        for card in cards:
            card.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the focus when a card is hidden; Qt sends this event before it moves the focus itself."""
        if event.type() == QEvent.Type.Hide and isinstance(watched, QWidget) and self._home.isVisible():
            focused = QApplication.focusWidget()
            if focused is not None and watched.isAncestorOf(focused):
                self._home.setFocus(Qt.FocusReason.OtherFocusReason)
        return False


class FocusLoan:
    """Gives a transient widget the focus, and later returns it to the widget that had it before."""

    def __init__(self) -> None:
        self._before: QWidget | None = None

    def take(self, borrower: QWidget, within: Sequence[QWidget]) -> None:
        """Give the focus to `borrower` and remember the widget that had it.

        Args:
            borrower: the widget that gets the focus.
            within: the transient widgets; a focused child of one of them is not remembered.
        """
        focused = QApplication.focusWidget()
        if focused is not None and not any(part.isAncestorOf(focused) for part in within):
            self._before = focused
        borrower.setFocus(Qt.FocusReason.PopupFocusReason)

    def give_back(self) -> None:
        """Return the focus to the remembered widget, if it is still visible."""
        before, self._before = self._before, None
        if before is not None and isValid(before) and before.isVisible():
            before.setFocus(Qt.FocusReason.PopupFocusReason)

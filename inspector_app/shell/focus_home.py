"""Where the keyboard goes when what had it goes away: Qt would give it to whatever comes next, such as a button of the tool bar."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid


class FocusHome(QObject):
    """Watches cards that come and go.

    Args:
        home: gets the keyboard when a card disappears that had it; whoever asks for it then gets it all the same.
        cards: these.
    """

    def __init__(self, home: QWidget, cards: Sequence[QWidget]) -> None:
        super().__init__(home)
        self._home = home
        for card in cards:
            card.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the keyboard when a card is about to disappear: Qt tells so before it moves it itself."""
        if event.type() == QEvent.Type.Hide and isinstance(watched, QWidget) and self._home.isVisible():
            focused = QApplication.focusWidget()
            if focused is not None and watched.isAncestorOf(focused):
                self._home.setFocus(Qt.FocusReason.OtherFocusReason)
        return False


class FocusLoan:
    """The keyboard as something that comes and goes borrows it: what had it before gets it back."""

    def __init__(self) -> None:
        self._before: QWidget | None = None

    def take(self, borrower: QWidget, within: Sequence[QWidget]) -> None:
        """Give the keyboard to `borrower`.

        Args:
            borrower: gets it.
            within: the whole of what comes and goes; a part of it that has the keyboard is not what gets it back.
        """
        focused = QApplication.focusWidget()
        if focused is not None and not any(part.isAncestorOf(focused) for part in within):
            self._before = focused
        borrower.setFocus(Qt.FocusReason.PopupFocusReason)

    def give_back(self) -> None:
        """Give it to what had it, if that is still on show."""
        before, self._before = self._before, None
        if before is not None and isValid(before) and before.isVisible():
            before.setFocus(Qt.FocusReason.PopupFocusReason)

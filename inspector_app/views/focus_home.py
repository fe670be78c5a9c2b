"""Takes the keyboard home when what had it goes away: Qt would give it to whatever comes next, such as a button of the tool bar."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QWidget


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

"""Takes the keyboard home when what had it goes away: Qt would give it to whatever comes next, such as a button of the tool bar."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid


class FocusHome(QObject):
    """Watches cards that come and go, and panes of which parts do.

    Args:
        home: gets the keyboard when what had it disappears, and nobody else has asked for it.
        cards: these.
    """

    def __init__(self, home: QWidget, cards: Sequence[QWidget]) -> None:
        super().__init__(home)
        self._home = home
        self._cards = cards
        self._left: tuple[QWidget, QWidget | None] | None = None
        self._check = QTimer(self)
        self._check.setSingleShot(True)
        self._check.timeout.connect(self._on_check)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._on_focus_changed)

    def _on_focus_changed(self, old: QWidget | None, new: QWidget | None) -> None:
        if old is None:
            return
        card = next((card for card in self._cards if card.isAncestorOf(old)), None)
        if card is not None and not (new is not None and card.isAncestorOf(new)):
            self._left = (old, new)
            self._check.start()  # it hides after it has lost the keyboard

    def _on_check(self) -> None:
        left, self._left = self._left, None
        if left is None:
            return
        old, new = left
        gone = not isValid(old) or not old.isVisible()
        if gone and QApplication.focusWidget() is new and self._home.isVisible():
            self._home.setFocus(Qt.FocusReason.OtherFocusReason)

"""A canary: PySide6 6.12.0 on Python 3.11 lost a reference to None with each turn of the event loop and died after 8,100 of them."""

from __future__ import annotations

import sys

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication


class _Receiver(QObject):
    seen = 0

    def event(self, event: QEvent) -> bool:
        self.seen += 1
        return True


def test_turning_the_event_loop_loses_no_reference_to_none(qapp: QApplication) -> None:
    receiver = _Receiver()

    def turn() -> None:
        QApplication.postEvent(receiver, QEvent(QEvent.Type.User))
        qapp.processEvents()

    turn()
    before = sys.getrefcount(None)
    for _ in range(1000):
        turn()
    assert receiver.seen == 1001
    assert abs(sys.getrefcount(None) - before) < 100

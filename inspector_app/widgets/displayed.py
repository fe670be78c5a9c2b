"""Whether a pane is displayed."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QWidget


class Displayed(QObject):
    """Knows whether a pane is displayed. Qt reports a dock as visible while another tab covers it.

    Signals:
        came: the pane is displayed from now on; what it did not draw while it was covered is due.

    Args:
        pane: the pane.
    """

    came = Signal()

    def __init__(self, pane: QWidget) -> None:
        super().__init__(pane)
        self._pane = pane
        self._in_front = True
        pane.installEventFilter(self)

    @property
    def now(self) -> bool:
        """Whether the pane is displayed."""
        return self._in_front and self._pane.isVisible()

    def set_in_front(self, in_front: bool) -> None:
        """Take over what `QDockWidget.visibilityChanged` reports of the pane's dock."""
        came, self._in_front = in_front and not self._in_front, in_front
        if came and self.now:
            self.came.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notice that the pane is shown; filter nothing."""
        if event.type() == QEvent.Type.Show and self._in_front:
            self.came.emit()
        return False

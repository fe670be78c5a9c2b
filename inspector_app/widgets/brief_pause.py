"""The moment after a decision in which a second click, meant for what was there before, decides nothing else."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

PAUSE_MS = 500  # longer than a double click


class BriefPause(QObject):
    """A pause after each decision; its owner disables what could be pressed.

    Signals:
        changed: the pause has begun or ended.
    """

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._running = 0

    @property
    def is_on(self) -> bool:
        """Whether nothing may be pressed."""
        return self._running > 0

    def begin(self) -> None:
        """Begin the pause, or make it longer."""
        self._running += 1
        QTimer.singleShot(PAUSE_MS, self, self._on_end)
        self.changed.emit()

    def _on_end(self) -> None:
        self._running -= 1
        if not self._running:
            self.changed.emit()

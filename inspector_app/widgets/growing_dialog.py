"""A dialog whose wrapped texts decide its height."""

from __future__ import annotations

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog


class GrowingDialog(QDialog):
    """A dialog that is at least as high as its texts need at its width."""

    def showEvent(self, event: QShowEvent) -> None:
        """Grow to the height that the texts need."""
        super().showEvent(event)
        layout = self.layout()
        if layout is not None:
            self.resize(self.width(), max(self.height(), layout.totalHeightForWidth(self.width())))

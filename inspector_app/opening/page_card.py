"""The card in which a page asks or tells one thing: as wide as reads well, a little above the middle of however large a window."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QGridLayout, QVBoxLayout, QWidget


class PageCard(QFrame):
    """Stands alone on its page.

    Attributes:
        rows: where its parts go.

    Args:
        page: which has nothing else.
        width: pixels, where there is that much room.
    """

    def __init__(self, page: QWidget, width: int) -> None:
        super().__init__(page)
        self.setProperty("card", "true")
        self.setMaximumWidth(width)
        self.rows = QVBoxLayout(self)
        self.rows.setContentsMargins(28, 24, 28, 24)
        self.rows.setSpacing(12)
        outer = QGridLayout(page)
        outer.setContentsMargins(8, 8, 8, 8)
        outer.addWidget(self, 1, 1)
        outer.setColumnStretch(0, 1)
        outer.setColumnStretch(1, 100)
        outer.setColumnStretch(2, 1)
        outer.setRowStretch(0, 2)
        outer.setRowStretch(2, 3)

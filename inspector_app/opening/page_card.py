"""A card for a page with a single message: of readable width, slightly above the middle of the window."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QGridLayout, QVBoxLayout, QWidget

from inspector_app.widgets.layouts import laid_out


class PageCard(QFrame):
    """The only card of a page.

    Attributes:
        rows: layout of the card's parts.

    Args:
        page: the otherwise empty page.
        width: maximum width, pixels.
    """

    def __init__(self, page: QWidget, width: int) -> None:
        super().__init__(page)
        self.setProperty("card", "true")
        self.setMaximumWidth(width)
        self.rows = laid_out(QVBoxLayout(self), margins=(28, 24, 28, 24), spacing=12)
        outer = QGridLayout(page)
        outer.setContentsMargins(8, 8, 8, 8)
        outer.addWidget(self, 1, 1)
        outer.setColumnStretch(0, 1)
        outer.setColumnStretch(1, 100)
        outer.setColumnStretch(2, 1)
        outer.setRowStretch(0, 2)
        outer.setRowStretch(2, 3)

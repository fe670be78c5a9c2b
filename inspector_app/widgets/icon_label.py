"""A small picture in running text."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from inspector_app.widgets import theme


class IconLabel(QWidget):
    """One icon of the theme; it says nothing that the words beside it do not say.

    Args:
        size: pixels of its square.
    """

    def __init__(self, size: int, parent: QWidget | None = None, *, name: str = "", role: str = "text") -> None:
        super().__init__(parent)
        self.setFixedSize(size, size)
        self._name, self._role = name, role

    def show_icon(self, name: str, role: str) -> None:
        """Show another icon, in the colour of `role`; nothing, and no gap, for no name."""
        self.setVisible(bool(name))
        if (name, role) != (self._name, self._role):
            self._name, self._role = name, role
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the icon in the theme's present colours."""
        if self._name:
            with QPainter(self) as painter:
                # Made anew: an icon whose engine is Python's must not be kept by one, who at the end may take the engine away first.
                theme.icon(self._name, self._role).paint(painter, self.rect())

"""A small icon beside text."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from inspector_app.widgets import theme


class IconLabel(QWidget):
    """One theme icon. It is decorative: the text beside it has the same meaning.

    Args:
        size: width and height in pixels, at a scale of 100 %.
    """

    def __init__(self, size: int, parent: QWidget | None = None, *, name: str = "", role: str = "text") -> None:
        super().__init__(parent)
        self._size = size
        self._name, self._role = name, role
        theme.current().changed.connect(self._fit)
        self._fit()

    @property
    def name(self) -> str:
        """The name of the icon; empty if the label is hidden."""
        return self._name

    def show_icon(self, name: str, role: str) -> None:
        """Show another icon in the colour of `role`; with an empty name, hide the label."""
        self.setVisible(bool(name))
        if (name, role) != (self._name, self._role):
            self._name, self._role = name, role
            self.update()

    def _fit(self) -> None:
        self.setFixedSize(theme.px(self._size), theme.px(self._size))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the icon in the current theme's colours."""
        if self._name:
            with QPainter(self) as painter:
                # Made here, not stored: Python may delete the icon's engine before the icon when the process ends, which crashes.
                theme.icon(self._name, self._role).paint(painter, self.rect())

"""A button with an icon, a title, its shortcut and a description."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QSizePolicy, QWidget

from inspector_app.widgets.controls import plain_label
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.layouts import named


class Tile(QPushButton):
    """A button that fills the width of its layout.

    Args:
        name: object name.
        icon: name of a glyph.
        title: the action, or the item to open.
        text: description below the title; empty for a tile of one line.
        key: shortcut of the same action; empty for none.
        aside: secondary text beside the title of a tile of one line; elided on the left.
    """

    def __init__(
        self, name: str, icon: str, title: str, text: str = "", *, key: str = "", aside: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        named(self, name, title)
        self.setAccessibleDescription(text)
        self.setProperty("tile", "card" if text else "line")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Preferred if text else QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        grid = QGridLayout(self)
        grid.setContentsMargins(*((14, 11, 14, 11) if text else (10, 5, 10, 5)))
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(2, 1)
        grid.addWidget(IconLabel(18 if text else 14, self, name=icon, role="accent" if text else "dim"), 0, 0)
        grid.addWidget(_label(title, "name" if text else "", self), 0, 1)
        if aside:
            cut = ElidedLabel(Qt.TextElideMode.ElideLeft)
            cut.setText(aside)
            cut.setProperty("role", "secondary")
            grid.addWidget(cut, 0, 2)
        if key:
            grid.addWidget(_label(key, "key", self), 0, 3)
        if text:
            sentence = _label(text, "secondary", self)
            sentence.setWordWrap(True)
            grid.addWidget(sentence, 1, 1, 1, 3)
        for label in self.findChildren(QLabel):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def sizeHint(self) -> QSize:
        """Return the size of the layout; QPushButton's own size hint ignores it."""
        layout = self.layout()
        assert layout is not None
        return layout.totalSizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the minimum size of the layout."""
        layout = self.layout()
        assert layout is not None
        return layout.totalMinimumSize()


def _label(text: str, role: str, parent: QWidget) -> QLabel:
    label = plain_label(text, parent=parent)
    if role:
        label.setProperty("role", role)
    return label

"""Labels of texts that change many times a second: a new size hint of a label lays out the whole window again."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QStyleOption, QWidget

from inspector_app.widgets import theme


class SteadyLabel(QLabel):
    """A label with a fixed width, which changes with the text but not with its digits. Text that is too long is elided in the middle."""

    _shape = ""
    _limit = 10_000  # pixels

    def limit(self, width: int) -> None:
        """Set the largest width in pixels."""
        if width != self._limit:
            self._limit = width
            self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the text, elided if it is too long."""
        metrics = self.fontMetrics()
        if metrics.horizontalAdvance(self.text()) <= self.width():
            super().paintEvent(event)
            return
        with QPainter(self) as painter:
            option = QStyleOption()
            option.initFrom(self)
            cut = metrics.elidedText(self.text(), Qt.TextElideMode.ElideMiddle, self.width())
            flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            self.style().drawItemText(painter, self.rect(), flags, option.palette, self.isEnabled(), cut, self.foregroundRole())

    def show_words(self, words: str) -> None:
        """Show another text."""
        if words != self.text():
            shape = theme.with_widest_digits(words)
            if shape != self._shape:
                self._shape = shape
                self._fit()
            self.setText(words)

    def changeEvent(self, event: QEvent) -> None:
        """Fit the size to another font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        size = self.fontMetrics().size(0, self._shape)
        self.setFixedSize(min(size.width(), self._limit), size.height())


class SteadyPlace(QWidget):
    """The place of a label with any width. It has no layout, which another text of the label would activate.

    Args:
        label: fills the place.
    """

    def __init__(self, label: QLabel) -> None:
        super().__init__()
        self._label = label
        label.setParent(self)
        self.setSizePolicy(label.sizePolicy())

    def sizeHint(self) -> QSize:
        """Return the label's."""
        return self._label.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the label's."""
        return self._label.minimumSizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fill the place."""
        super().resizeEvent(event)
        self._label.resize(self.size())

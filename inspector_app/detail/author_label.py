"""An author in the author's colour, and what the event is."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication

from inspector_app.widgets import theme
from inspector_app.widgets.elided_label import ElidedLabel


class AuthorLabel(ElidedLabel):
    """One line: the author, then the kind of the event, both bold."""

    _author = ""
    _role = "text"

    def show_words(self, author: str, role: str, kind: str) -> None:
        """Show another event's author in its colour role, and its kind."""
        self._author, self._role = author, role
        self.setText(f"{author} · {kind}")
        self.update()  # the colour alone may differ

    def sizeHint(self) -> QSize:
        """Return the height of a bold line."""
        return QSize(super().sizeHint().width(), QFontMetrics(_bold()).height() + 4)

    def minimumSizeHint(self) -> QSize:
        """Return no width, and the height of the line."""
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the author, then the kind, elided to the width."""
        metrics, place = QFontMetrics(_bold()), self.rect()
        kind = self.text()[len(self._author) + 3 :]
        with QPainter(self) as painter:
            painter.setFont(_bold())
            for text, role in ((self._author, self._role), (kind, "text")):
                painter.setPen(theme.color(role))
                cut = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(place.width(), 0))
                painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), cut)
                place.setLeft(place.left() + metrics.horizontalAdvance(text) + theme.px(9))


def _bold() -> QFont:
    font = QFont(QApplication.font())
    font.setBold(True)
    return font

"""One line above the events that says what to do next, with the button that does it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from inspector_app.views.icon_label import IconLabel


class HintBar(QWidget):
    """Such as "This invocation was interrupted after step 2" with *Resume*.

    Signals:
        accepted: the button was pressed.
    """

    accepted = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 7, 7, 7)
        line.setSpacing(9)
        self._icon = IconLabel(16, self)
        line.addWidget(self._icon)
        self._text = QLabel(self)
        self._text.setObjectName(f"{name}_text")
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        line.addWidget(self._text, 1)
        self._button = QPushButton(self)
        self._button.setObjectName(f"{name}_button")
        self._button.setAccessibleName("Do what the hint says")
        self._button.clicked.connect(self.accepted)
        line.addWidget(self._button)
        self.hide()

    @property
    def text(self) -> str:
        """What it says; empty while it is hidden."""
        return "" if self.isHidden() else self._text.text()

    @property
    def button(self) -> QPushButton:
        """The button that does what the text says."""
        return self._button

    def suggest(self, text: str, action: str, icon: str, role: str = "warn") -> None:
        """Show a hint.

        Args:
            text: what the matter is.
            action: what the button says; without it there is no button.
            icon, role: of the theme.
        """
        self._icon.show_icon(icon, role)
        urgent = role == "warn"
        self.setProperty("card", "held" if urgent else True)
        self._button.setProperty("primary", urgent)
        for widget in (self, self._button):
            widget.style().unpolish(widget)
            widget.style().polish(widget)
        self._text.setText(text)
        self._button.setText(action)
        self._button.setAccessibleName(action)
        self._button.setVisible(bool(action))
        self.show()

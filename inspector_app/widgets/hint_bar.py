"""A line below the events that suggests the next step, with a button for it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label
from inspector_app.widgets.icon_label import IconLabel


class HintBar(QWidget):
    """A hint with up to two buttons, such as "This invocation was interrupted after step 2" with *Resume*.

    Signals:
        accepted: the first button was pressed.
        other_accepted: the second button was pressed.
    """

    accepted = Signal()
    other_accepted = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 7, 7, 7)
        line.setSpacing(9)
        self._icon = IconLabel(16, self)
        line.addWidget(self._icon)
        self._text = plain_label(name=f"{name}_text", wraps=True, parent=self)
        line.addWidget(self._text, 1)
        self._button = QPushButton(self)
        self._button.setObjectName(f"{name}_button")
        self._button.clicked.connect(self.accepted)
        self._other = QPushButton(self)
        self._other.setObjectName(f"{name}_other_button")
        self._other.clicked.connect(self.other_accepted)
        for button in (self._button, self._other):
            button.setAccessibleName("Follow the hint")
            line.addWidget(button)
        self.hide()

    @property
    def text(self) -> str:
        """The hint; empty while the bar is hidden."""
        return "" if self.isHidden() else self._text.text()

    @property
    def button(self) -> QPushButton:
        """The button for the suggested action."""
        return self._button

    @property
    def other_button(self) -> QPushButton:
        """The button for the alternative action."""
        return self._other

    def suggest(self, text: str, action: str, icon: str, role: str = "warn", *, other: str = "") -> None:
        """Show a hint.

        Args:
            text: the situation.
            action: label of the button; empty for no button.
            icon, role: name and colour role of a theme icon.
            other: label of the second button; empty for no second button.
        """
        self._icon.show_icon(icon, role)
        urgent = role == "warn"
        self.setProperty("card", "held" if urgent else True)
        self._button.setProperty("primary", urgent)
        for widget in (self, self._button):
            theme.restyle(widget)
        self._text.setText(text)
        for button, words in ((self._button, action), (self._other, other)):
            button.setText(words)
            button.setAccessibleName(words)
            button.setVisible(bool(words))
        self.show()

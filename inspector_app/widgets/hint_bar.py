"""A line below the events that suggests the next step, with a button for it; of several, one is displayed at a time."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.layouts import laid_out, named

SUGGESTS, WARNS, ANSWERS = range(3)  # urgency: something may be done; something is wrong; about what the person is doing


class HintBar(QWidget):
    """A hint with up to two buttons, such as "This invocation was interrupted after step 2" with *Resume*.

    Attributes:
        button, other_button: for the suggested action, and for the alternative one.

    Signals:
        accepted: the first button was pressed.
        other_accepted: the second button was pressed.
        changed: the hint has come or gone, or is another one.

    Args:
        name: object name, also the prefix of its parts' names.
        urgency: which hint is displayed where several have one place, see `OneHint`.
    """

    accepted = Signal()
    other_accepted = Signal()
    changed = Signal()

    def __init__(self, name: str, urgency: int = 0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.urgency = urgency
        self._is_wanted = False
        self._closed = ""  # the text that a person closed
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._icon = IconLabel(16, self)
        self._text = plain_label(name=f"{name}_text", wraps=True, parent=self)
        self.button = push_button("", f"{name}_button", self.accepted, does="Follow the hint", parent=self)
        self.other_button = push_button("", f"{name}_other_button", self.other_accepted, does="Follow the hint", parent=self)
        self._close = named(QToolButton(self), f"{name}_close", "Close the hint")
        self._close.setIcon(theme.icon("xmark", "dim"))
        theme.keep_icon_size(self._close, 16)
        self._close.clicked.connect(self._on_closed)
        parts = (self._icon, (self._text, 1), self.button, self.other_button, self._close)
        laid_out(QHBoxLayout(self), *parts, margins=(12, 7, 7, 7), spacing=9)
        self.hide()

    @property
    def text(self) -> str:
        """The hint, also while a more urgent one is displayed; empty if there is none."""
        return self._text.text() if self._is_wanted else ""

    def suggest(self, text: str, action: str, icon: str, role: str = "warn", *, other: str = "", closable: bool = True) -> None:
        """Show a hint, unless a person has closed the same one.

        Args:
            text: the situation.
            action: label of the button; empty for no button.
            icon, role: name and colour role of a theme icon.
            other: label of the second button; empty for no second button.
            closable: whether a person may close it without an answer.
        """
        self._icon.show_icon(icon, role)
        urgent = role == "warn"
        self.setProperty("card", "held" if urgent else True)
        self.button.setProperty("primary", urgent)
        for widget in (self, self.button):
            theme.restyle(widget)
        is_new = not self._is_wanted or text != self._text.text()
        self._text.setText(text)
        self._close.setVisible(closable)
        for button, words in ((self.button, action), (self.other_button, other)):
            button.setText(words)
            button.setAccessibleName(words)
            button.setVisible(bool(words))
        if text == self._closed and self.urgency < ANSWERS:
            return
        self._closed, self._is_wanted = "", True
        if is_new:
            self.show()
            self.changed.emit()

    def hide(self) -> None:
        """Take the hint back."""
        super().hide()
        if self._is_wanted:
            self._is_wanted = False
            self.changed.emit()

    def _on_closed(self) -> None:
        self._closed = self._text.text()
        self.hide()


class OneHint(QObject):
    """Shows one of several hints: the most urgent one, of these the newest. The others follow when it is closed."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._hints: list[HintBar] = []

    def add(self, hint: HintBar) -> None:
        """Add a hint to those of which one is displayed."""
        self._hints.append(hint)
        hint.changed.connect(self._on_changed)

    def _on_changed(self) -> None:
        changed = self.sender()
        if isinstance(changed, HintBar) and changed.text:
            self._hints.remove(changed)
            self._hints.insert(0, changed)
        shown = max((hint for hint in self._hints if hint.text), key=lambda hint: hint.urgency, default=None)  # the first of equals
        for hint in sorted(self._hints, key=lambda hint: hint is shown):
            hint.setVisible(hint is shown)

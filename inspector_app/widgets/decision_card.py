"""A card above the events that says what something will do before it is done: Enter does it, Esc leaves everything as it is."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from inspector_app.presentation.decisions import Choice, Fact
from inspector_app.presentation.values import plain_tooltip
from inspector_app.widgets import theme
from inspector_app.widgets.button_flow import ButtonFlow
from inspector_app.widgets.icon_label import IconLabel

MAX_HEIGHT, MIN_HEIGHT = 200, 40
"""Pixels of the facts; more of them scroll, so that the stream stays in view, and a low window shows fewer."""

_MARGIN, _MARGIN_RIGHT = 12, 8
CANCEL = "cancel"


class DecisionCard(QWidget):
    """Shows facts and choices; the first choice that can be made is the one that Enter takes.

    Signals:
        chosen(str): this choice was made; the card is hidden.
        cancelled: it was put away.

    Args:
        name: of the widget, and the beginning of its parts' names.
        title: for screen readers.
    """

    chosen = Signal(str)
    cancelled = Signal()

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._name = name
        self._buttons: list[QPushButton] = []
        self._icon = IconLabel(16, self)
        self._title = _text(self, f"{name}_title")
        self._title.setProperty("role", "name")
        self._head = QHBoxLayout()
        self._head.setSpacing(9)
        self._head.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignVCenter)
        self._head.addWidget(self._title, 1)
        self._facts = _Facts(self)
        self._choices = ButtonFlow(self)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(_MARGIN, 8, _MARGIN_RIGHT, 8)
        rows.setSpacing(6)
        rows.addLayout(self._head)
        rows.addWidget(self._facts)
        rows.addWidget(self._choices)
        self.hide()

    @property
    def title(self) -> str:
        """What it is about; empty while it is hidden."""
        return "" if self.isHidden() else self._title.text()

    def show_decision(self, title: str, facts: Sequence[Fact], choices: Sequence[Choice], *, icon: str, urgent: bool = False) -> None:
        """Show what can be done, and wait for an answer.

        Args:
            title: what it is about.
            facts: what there is to know, what matters most first.
            choices: what can be done, the best first; *Cancel* is added.
            icon: of the theme.
            urgent: something is lost or done again.
        """
        self._icon.show_icon("triangle-exclamation" if urgent else icon, "warn" if urgent else "accent")
        self.setProperty("card", "held" if urgent else True)
        theme.restyle(self)
        self._title.setText(title)
        self._show_choices([*choices, Choice(CANCEL, "Cancel", "Nothing is done (Esc)")])
        self._fill(facts)
        self.show()
        self._fit()
        next(button for button in self._buttons if button.isEnabled()).setFocus()

    def button(self, name: str) -> QPushButton | None:
        """Return the button of a choice, if it is there."""
        return next((button for button in self._buttons if button.objectName() == f"{self._name}_{name}"), None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Put it away with Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self._choose(CANCEL)
        else:
            super().keyPressEvent(event)

    def _show_choices(self, choices: Sequence[Choice]) -> None:
        """Put the buttons beside the title, or below the facts where they would leave it no room."""
        for old in self._buttons:
            old.setParent(None)
            old.deleteLater()
        few = len(choices) <= 2
        self._buttons = []
        for choice in choices:
            button = QPushButton(choice.text, self)
            button.setObjectName(f"{self._name}_{choice.name}")
            button.setAccessibleName(choice.text)
            button.setEnabled(choice.enabled)
            button.setToolTip(plain_tooltip(choice.does))
            button.setProperty("primary", choice is choices[0])
            button.setProperty("choice", choice.name)
            button.clicked.connect(self._on_clicked)
            if few:
                self._head.addWidget(button)
            self._buttons.append(button)
        self._choices.set_buttons([] if few else self._buttons)

    def _fill(self, facts: Sequence[Fact]) -> None:
        inside = QWidget()
        grid = QGridLayout(inside)
        grid.setContentsMargins(0, 0, 4, 0)
        grid.setHorizontalSpacing(9)
        grid.setVerticalSpacing(4)
        grid.setColumnMinimumWidth(0, self._icon.width())  # so that they begin below the title
        grid.setColumnStretch(1, 1)
        grid.setRowStretch(len(facts), 1)
        for row, fact in enumerate(facts):
            grid.addWidget(IconLabel(13, inside, name=fact.icon, role=fact.role), row, 0, Qt.AlignmentFlag.AlignTop)
            text = _text(inside, f"{self._name}_line_{row}")
            text.setText(fact.text)
            text.setAlignment(Qt.AlignmentFlag.AlignTop)
            if fact.role in ("dim", "ok"):
                text.setProperty("role", "dim")
            grid.addWidget(text, row, 1)
        self._facts.setWidget(inside)
        self._facts.setVisible(bool(facts))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make the facts as high as they are at this width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        inside = self._facts.widget()
        grid = inside.layout() if inside is not None else None
        if inside is not None and grid is not None:
            inside.ensurePolished()
            self._facts.set_wanted(max(grid.totalHeightForWidth(max(self.width() - _MARGIN - _MARGIN_RIGHT, 1)), 0))  # -1 without facts

    def _on_clicked(self) -> None:
        self._choose(str(self.sender().property("choice")))

    def _choose(self, name: str) -> None:
        self.hide()
        if name == CANCEL:
            self.cancelled.emit()
        else:
            self.chosen.emit(name)


class _Facts(QScrollArea):
    """As high as its facts, up to a limit; lower where the window is."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._wanted = 0
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def set_wanted(self, height: int) -> None:
        """Say how high the facts are at this width."""
        self._wanted = height
        self.setMaximumHeight(min(height, MAX_HEIGHT))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the height of the facts."""
        return QSize(super().sizeHint().width(), min(self._wanted, MAX_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        """Return what is left of it in a low window."""
        return QSize(super().minimumSizeHint().width(), min(self._wanted, MIN_HEIGHT))


def _text(parent: QWidget, name: str) -> QLabel:
    label = QLabel(parent)
    label.setObjectName(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    return label

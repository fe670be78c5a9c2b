"""A card below the events that states the consequences of an action before it runs. Enter confirms, Esc cancels."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from inspector_app.presentation.decisions import Choice, Fact
from inspector_app.widgets import theme
from inspector_app.widgets.button_flow import ButtonFlow
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.layouts import laid_out
from inspector_app.widgets.tooltips import set_tooltip

# Pixels of the list of facts. Longer lists scroll, so that the event stream stays visible; a low window shrinks it to the minimum.
MAX_HEIGHT, MIN_HEIGHT = 200, 40

_MARGIN, _MARGIN_RIGHT = 12, 8
CANCEL = "cancel"


class DecisionCard(QWidget):
    """A card with facts and choices. Enter takes the first enabled choice.

    Signals:
        chosen (str): a choice was made, and the card was hidden.
        cancelled: the card was closed without a choice.

    Args:
        name: object name, also the prefix of its parts' names.
        title: accessible name.
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
        self._title = plain_label(name=f"{name}_title", wraps=True, parent=self)
        self._title.setProperty("role", "name")
        self._head = laid_out(QHBoxLayout(), (self._icon, 0, Qt.AlignmentFlag.AlignVCenter), (self._title, 1), spacing=9)
        self._facts = _Facts(self)
        self._choices = ButtonFlow(self)
        laid_out(QVBoxLayout(self), self._head, self._facts, self._choices, margins=(_MARGIN, 8, _MARGIN_RIGHT, 8), spacing=6)
        self.hide()

    @property
    def title(self) -> str:
        """The title; empty while the card is hidden."""
        return "" if self.isHidden() else self._title.text()

    def show_decision(self, title: str, facts: Sequence[Fact], choices: Sequence[Choice], *, icon: str, urgent: bool = False) -> None:
        """Show a decision and focus the first enabled choice.

        Args:
            title: what is to be decided.
            facts: what the user should know, the most important first.
            choices: what can be done, the best first; *Cancel* is appended.
            icon: name of a theme icon.
            urgent: whether something is lost or executed again.
        """
        self._icon.show_icon("triangle-exclamation" if urgent else icon, "warn" if urgent else "accent")
        self.setProperty("card", "held" if urgent else True)
        theme.restyle(self)
        self._title.setText(title)
        self._show_choices([*choices, Choice(CANCEL, "Cancel", "Change nothing (Esc)")])
        self._fill(facts)
        self.show()
        self._fit()
        next(button for button in self._buttons if button.isEnabled()).setFocus()

    def button(self, name: str) -> QPushButton | None:
        """Return the button of a choice, or None if it is not offered."""
        return next((button for button in self._buttons if button.objectName() == f"{self._name}_{name}"), None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Cancel with Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self._choose(CANCEL)
        else:
            super().keyPressEvent(event)

    def _show_choices(self, choices: Sequence[Choice]) -> None:
        """Put up to two buttons beside the title; put more below the facts, so that the title keeps its width."""
        for old in self._buttons:
            old.setParent(None)
            old.deleteLater()
        few = len(choices) <= 2
        self._buttons = []
        for choice in choices:
            button = push_button(choice.text, f"{self._name}_{choice.name}", parent=self)
            button.setEnabled(choice.enabled)
            set_tooltip(button, choice.does)
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
        grid.setColumnMinimumWidth(0, self._icon.width())  # aligns the facts with the title
        grid.setColumnStretch(1, 1)
        grid.setRowStretch(len(facts), 1)
        for row, fact in enumerate(facts):
            grid.addWidget(IconLabel(13, inside, name=fact.icon, role=fact.role), row, 0, Qt.AlignmentFlag.AlignTop)
            text = plain_label(name=f"{self._name}_line_{row}", wraps=True, parent=inside)
            text.setText(fact.text)
            text.setAlignment(Qt.AlignmentFlag.AlignTop)
            if fact.role in ("dim", "ok"):
                text.setProperty("role", "dim")
            grid.addWidget(text, row, 1)
        self._facts.setWidget(inside)
        self._facts.setVisible(bool(facts))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the height of the facts to the new width."""
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
    """A scroll area as high as its facts, between MIN_HEIGHT and MAX_HEIGHT."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._wanted = 0
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def set_wanted(self, height: int) -> None:
        """Set the height, in pixels, that the facts need at the current width."""
        self._wanted = height
        self.setMaximumHeight(min(height, MAX_HEIGHT))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the height of the facts, at most MAX_HEIGHT."""
        return QSize(super().sizeHint().width(), min(self._wanted, MAX_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        """Return the height that remains in a low window."""
        return QSize(super().minimumSizeHint().width(), min(self._wanted, MIN_HEIGHT))

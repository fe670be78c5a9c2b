"""The card that says what resuming will do, before anything runs: Enter resumes, Esc leaves everything as it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from inspector_app.views.icon_label import IconLabel

Place = Literal["here", "copy", "backup", "in place"]
"""Where a resumed run writes: where the session is, into a copy of its database, or in place (after a backup) though it was read only."""

_RESUME = {
    "here": "Resume",
    "copy": "Resume in a copy",
    "backup": "Resume in place (backup)",
    "in place": "Resume in place",
}

MAX_HEIGHT = 220
"""Pixels of the facts; more of them scroll, so that the stream stays in view."""

_MARGIN = 12


@dataclass(frozen=True, slots=True)
class PreflightLine:
    """One fact.

    Attributes:
        icon, role: of the theme.
        text: a sentence.
    """

    icon: str
    role: str
    text: str


@dataclass(slots=True)
class Preflight:
    """What to read before *Resume* is pressed.

    Attributes:
        invocation_id: which invocation.
        title: what happens first.
        lines: what else there is to know, what matters most first.
        warns: something is done again, lost or different.
        blocked: why it cannot be resumed; empty if it can.
        places: where it can be resumed, the better choice first.
    """

    invocation_id: str
    title: str
    lines: list[PreflightLine] = field(default_factory=list)
    warns: bool = False
    blocked: str = ""
    places: tuple[Place, ...] = ("here",)


class PreflightCard(QWidget):
    """Shows a `Preflight` above the events.

    Signals:
        accepted(str, bool, str): resume this invocation; whether to hold at the first event; in which `Place`.
        cancelled: it was put away.
    """

    accepted = Signal(str, bool, str)
    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("preflight")
        self.setAccessibleName("What resuming will do")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._shown: Preflight | None = None
        self._paused = False
        self._icon = IconLabel(16, self)
        self._title = _text(self, "preflight_title")
        self._resume = self._button("preflight_resume", "Resume", self._on_resume)
        self._resume.setProperty("primary", True)
        self._elsewhere = self._button("preflight_elsewhere", "Resume", self._on_elsewhere)
        self._cancel = self._button("preflight_cancel", "Cancel", self._on_cancel)
        head = QHBoxLayout()
        head.setSpacing(9)
        head.addWidget(self._icon)
        head.addWidget(self._title, 1)
        for button in (self._resume, self._elsewhere, self._cancel):
            head.addWidget(button)
        self._facts = QScrollArea(self)
        self._facts.setWidgetResizable(True)
        self._facts.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._facts.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(_MARGIN, 8, 8, 8)
        rows.setSpacing(6)
        rows.addLayout(head)
        rows.addWidget(self._facts)
        self.hide()

    @property
    def shown(self) -> Preflight | None:
        """What it shows; None while it is hidden."""
        return None if self.isHidden() else self._shown

    def ask(self, preflight: Preflight, *, paused: bool) -> None:
        """Show what will happen, and wait for an answer.

        Args:
            preflight: what.
            paused: the invocation is to be held at its first event.
        """
        self._shown, self._paused = preflight, paused
        urgent = preflight.warns or bool(preflight.blocked)
        self._icon.show_icon("triangle-exclamation" if urgent else "clock-rotate-left", "warn" if urgent else "accent")
        self.setProperty("card", "held" if urgent else True)
        self.style().unpolish(self)
        self.style().polish(self)
        self._title.setText(preflight.title)
        held = ", held at the first event" if paused else ""
        self._elsewhere.setVisible(len(preflight.places) > 1)
        for button, place in zip((self._resume, self._elsewhere), preflight.places, strict=False):
            button.setText(_RESUME[place] + held)
            button.setAccessibleName(button.text())
            button.setEnabled(not preflight.blocked)
            button.setToolTip(preflight.blocked or "Go on from the last checkpoint (Enter)")
        self._fill(preflight)
        self.show()
        self._fit()
        (self._cancel if preflight.blocked else self._resume).setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Put it away with Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self._on_cancel()
        else:
            super().keyPressEvent(event)

    def _fill(self, preflight: Preflight) -> None:
        inside = QWidget()
        grid = QGridLayout(inside)
        grid.setContentsMargins(0, 0, 4, 0)
        grid.setHorizontalSpacing(9)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        for row, line in enumerate(preflight.lines):
            grid.addWidget(IconLabel(13, inside, name=line.icon, role=line.role), row, 0, Qt.AlignmentFlag.AlignTop)
            text = _text(inside, f"preflight_line_{row}")
            text.setText(line.text)
            if line.role == "dim" or line.role == "ok":
                text.setProperty("role", "dim")
            grid.addWidget(text, row, 1)
        self._facts.setWidget(inside)
        self._facts.setVisible(bool(preflight.lines))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make the facts as high as they are at this width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        inside = self._facts.widget()
        grid = inside.layout() if inside is not None else None
        if inside is not None and grid is not None:
            inside.ensurePolished()
            wanted = max(grid.totalHeightForWidth(max(self.width() - 2 * _MARGIN, 1)), 0)  # -1 without facts
            self._facts.setFixedHeight(min(wanted, MAX_HEIGHT))

    def _button(self, name: str, text: str, slot: object) -> QPushButton:
        button = QPushButton(text, self)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setAutoDefault(True)  # Enter presses it, as in a dialog
        button.clicked.connect(slot)
        return button

    def _on_resume(self) -> None:
        self._accept(0)

    def _on_elsewhere(self) -> None:
        self._accept(1)

    def _accept(self, choice: int) -> None:
        shown = self.shown
        if shown is not None and not shown.blocked:
            self.hide()
            self.accepted.emit(shown.invocation_id, self._paused, shown.places[choice])

    def _on_cancel(self) -> None:
        self.hide()
        self.cancelled.emit()


def _text(parent: QWidget, name: str) -> QLabel:
    label = QLabel(parent)
    label.setObjectName(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    return label

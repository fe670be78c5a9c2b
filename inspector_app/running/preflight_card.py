"""The card that lists the effects of resuming before anything runs. Enter resumes, Esc cancels."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from inspector_app.presentation.decisions import Choice
from inspector_app.running.view_data import Preflight
from inspector_app.widgets.decision_card import DecisionCard

_RESUME = {
    "here": "Resume",
    "copy": "Resume in a copy",
    "backup": "Resume in place (backup)",
    "in place": "Resume in place",
}
_NAMES = ("resume", "elsewhere")


class PreflightCard(DecisionCard):
    """A `Preflight`, shown below the events.

    Signals:
        accepted (str, bool, str): the user chose to resume: invocation id, whether to hold at the first event, and the `Place`.
        shown_changed: the card was displayed or hidden.
    """

    accepted = Signal(str, bool, str)
    shown_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("preflight", "Effects of resuming", parent)
        self._shown: Preflight | None = None
        self._paused = False
        self.chosen.connect(self._on_chosen)

    def showEvent(self, event: QShowEvent) -> None:
        """Report that the question is displayed."""
        super().showEvent(event)
        self.shown_changed.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        """Report that it is displayed no more."""
        super().hideEvent(event)
        self.shown_changed.emit()

    @property
    def shown(self) -> Preflight | None:
        """The displayed preflight; None while the card is hidden."""
        return None if self.isHidden() else self._shown

    def ask(self, preflight: Preflight, *, paused: bool) -> None:
        """Show a preflight and wait for the user's choice.

        Args:
            preflight: the effects of resuming.
            paused: whether to hold at the first event.
        """
        self._shown, self._paused = preflight, paused
        held = ", held at the first event" if paused else ""
        does = preflight.blocked or "Continue from the last checkpoint (Enter)"
        choices = [
            Choice(name, _RESUME[place] + held, does, not preflight.blocked) for name, place in zip(_NAMES, preflight.places, strict=False)
        ]
        urgent = preflight.warns or bool(preflight.blocked)
        self.show_decision(preflight.title, preflight.lines, choices, icon="clock-rotate-left", urgent=urgent)

    def _on_chosen(self, name: str) -> None:
        if self._shown is not None:
            self.accepted.emit(self._shown.invocation_id, self._paused, self._shown.places[_NAMES.index(name)])

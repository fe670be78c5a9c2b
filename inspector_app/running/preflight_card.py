"""The card that says what resuming will do, before anything runs: Enter resumes, Esc leaves everything as it is."""

from __future__ import annotations

from PySide6.QtCore import Signal
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
    """Shows a `Preflight` above the events.

    Signals:
        accepted(str, bool, str): resume this invocation; whether to hold at the first event; in which `Place`.
    """

    accepted = Signal(str, bool, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("preflight", "What resuming will do", parent)
        self._shown: Preflight | None = None
        self._paused = False
        self.chosen.connect(self._on_chosen)

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
        held = ", held at the first event" if paused else ""
        does = preflight.blocked or "Go on from the last checkpoint (Enter)"
        choices = [
            Choice(name, _RESUME[place] + held, does, not preflight.blocked) for name, place in zip(_NAMES, preflight.places, strict=False)
        ]
        urgent = preflight.warns or bool(preflight.blocked)
        self.show_decision(preflight.title, preflight.lines, choices, icon="clock-rotate-left", urgent=urgent)

    def _on_chosen(self, name: str) -> None:
        if self._shown is not None:
            self.accepted.emit(self._shown.invocation_id, self._paused, self._shown.places[_NAMES.index(name)])

"""A dialog that asks how often a session's messages are sent again."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSpinBox, QVBoxLayout, QWidget

from inspector_app.presentation.values import visible_lines
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.growing_dialog import GrowingDialog
from inspector_app.widgets.layouts import laid_out, named, set_up_dialog

USUAL = 5
MOST = 100  # runs; more is for `run --repeat`


class RepeatDialog(GrowingDialog):
    """A dialog with a number and what the runs do and cost. Open it with `open()`.

    Attributes:
        number: how often.

    Signals:
        accepted_times(int): the user wants this many runs.

    Args:
        title: what is run.
        facts: sentences about it.
        costs: what 1, 2 and up to `MOST` runs cost, as sentences.
    """

    accepted_times = Signal(int)

    def __init__(self, title: str, facts: Sequence[str], costs: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_up_dialog(self, "repeat_dialog", "Run again several times", 520, 0)
        self._costs = costs
        self.number = named(QSpinBox(), "repeat_number", "Number of runs")
        self.number.setRange(1, MOST)
        self.number.setValue(USUAL)
        theme.pad(self.number)
        self._cost = plain_label(name="repeat_cost", wraps=True)
        self._run = push_button("Run", "repeat_run", self._on_run, icon=theme.icon("play", "on_accent"), primary=True, default=True)
        cancel = push_button("Cancel", "repeat_dialog_cancel", self.reject)
        self._lay_out(title, facts, cancel)
        self.number.valueChanged.connect(self._on_number_changed)
        self._on_number_changed(USUAL)
        self.number.setFocus()
        self.number.selectAll()

    @property
    def cost(self) -> str:
        """What the runs cost, as far as it is known."""
        return self._cost.text()

    def _lay_out(self, title: str, facts: Sequence[str], cancel: QPushButton) -> None:
        heading = plain_label(visible_lines(title), name="repeat_title", role="name", wraps=True)
        told = [plain_label(visible_lines(fact), "repeat_fact", wraps=True) for fact in facts]
        line = laid_out(QHBoxLayout(), QLabel("Number of runs"), self.number, 1)
        buttons = laid_out(QHBoxLayout(), 1, cancel, self._run)
        laid_out(QVBoxLayout(self), heading, *told, line, self._cost, buttons, margins=(14, 14, 14, 12), spacing=10)

    def _on_number_changed(self, number: int) -> None:
        self._cost.setText(self._costs[number - 1])

    def _on_run(self) -> None:
        self.accepted_times.emit(self.number.value())
        self.accept()

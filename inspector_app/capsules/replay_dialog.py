"""A dialog that asks how a recorded session is replayed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from inspector_app.presentation.values import visible_lines
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label
from inspector_app.widgets.growing_dialog import GrowingDialog
from inspector_app.widgets.layouts import laid_out, named, set_up_dialog


class ReplayDialog(GrowingDialog):
    """A dialog with what a replay does. Open it with `open()`.

    Attributes:
        runs_tools: run the tools instead of giving their recorded results.
        goes_on: ask the real models from the call at which the run no longer matches.

    Signals:
        replay_requested(bool): the user wants the replay; whether to hold it at its first event.

    Args:
        title: what is replayed.
        facts: sentences about it.
    """

    replay_requested = Signal(bool)

    def __init__(self, title: str, facts: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_up_dialog(self, "replay_dialog", "Replay with recorded answers", 560, 0)
        self.runs_tools = self._box("replay_runs_tools", "Run the tools (otherwise their recorded results are given)")
        self.goes_on = self._box("replay_goes_on", "If it no longer matches, continue with the real models (this costs, and needs a key)")
        heading = _label(title)
        heading.setProperty("role", "name")
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        for button in self._buttons():
            buttons.addWidget(button)
        laid_out(
            QVBoxLayout(self), heading, *map(_label, facts), self.runs_tools, self.goes_on, buttons, margins=(14, 14, 14, 12), spacing=10
        )

    def _buttons(self) -> tuple[QPushButton, ...]:
        cancel = QPushButton("Cancel", self)
        cancel.clicked.connect(self.reject)
        step = QPushButton(theme.icon("forward-step", "accent"), "Step through", self)
        step.clicked.connect(self._on_step)
        replay = QPushButton(theme.icon("play", "on_accent"), "Replay", self)
        replay.setProperty("primary", True)
        replay.setDefault(True)
        replay.clicked.connect(self._on_replay)
        for button, name in ((cancel, "cancel"), (step, "step"), (replay, "run")):
            button.setObjectName(f"replay_{name}")
            button.setAccessibleName(button.text())
        return cancel, step, replay

    def _box(self, name: str, text: str) -> QCheckBox:
        box = named(QCheckBox(text, self), name, text)
        return box

    def _on_step(self) -> None:
        self.replay_requested.emit(True)
        self.accept()

    def _on_replay(self) -> None:
        self.replay_requested.emit(False)
        self.accept()


def _label(text: str) -> QLabel:
    return plain_label(visible_lines(text), wraps=True)

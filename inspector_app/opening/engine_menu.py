"""The menu of engines that can run the loaded agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QMenu, QWidget

from inspector_app.presentation.values import visible
from inspector_app.widgets.file_dialogs import ask_for_existing
from inspector_app.widgets.layouts import named


@dataclass(frozen=True, slots=True)
class EngineOption:
    """An engine that can be chosen.

    Attributes:
        kind: `adk`, `embedded` or `embedded-process`.
        python: its Python; empty for the embedded runtime.
        title: its text in the menu.
        is_used: whether the loaded agent runs on it.
    """

    kind: str
    python: str
    title: str
    is_used: bool


class EngineMenu(QMenu):
    """Offers engines, and a file dialog for another Python.

    Signals:
        chosen (str, str): the engine's kind and its Python.
        debugpy_requested (bool): whether a debugger may attach to the agent's process.
    """

    chosen = Signal(str, str)
    debugpy_requested = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, "engine_menu", "Engine of the agent")
        self.setToolTipsVisible(True)

    def offer(self, options: Sequence[EngineOption], debugpy: int | None = None) -> None:
        """Show the options at the mouse pointer.

        Args:
            options: the engines.
            debugpy: the port where debugpy listens; None if it does not run.
        """
        self.clear()
        for option in options:
            action = self.addAction(visible(option.title))
            action.setObjectName(f"engine_{option.kind}")
            action.setCheckable(True)
            action.setChecked(option.is_used)
            action.triggered.connect(partial(self.chosen.emit, option.kind, option.python))
        self.addSeparator()
        another = self.addAction("Choose another Python…")
        another.setObjectName("engine_another")
        another.triggered.connect(self._on_another)
        self.addSeparator()
        attach = self.addAction(
            "Let VS Code or PyCharm attach" + (f" (debugpy on port {debugpy})" if debugpy is not None else " (debugpy)")
        )
        attach.setObjectName("engine_debugpy")
        attach.setToolTip(
            "Runs the agent in a process of its own, where breakpoints of your editor stop it while the window holds its events"
        )
        attach.setCheckable(True)
        attach.setChecked(debugpy is not None)
        attach.triggered.connect(self.debugpy_requested)
        self.popup(QCursor.pos())

    def _on_another(self) -> None:
        title = "Choose the Python of the agent's environment"
        ask_for_existing(self.parentWidget(), title, partial(self.chosen.emit, "adk"), kind="python")

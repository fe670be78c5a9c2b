"""Opens the settings, applies what is chosen, and remembers it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

from inspector_app.presentation.tokens import own_prices
from inspector_app.shell.keys_controller import KeysController
from inspector_app.shell.main_window import MainWindow
from inspector_app.shell.settings_dialog import SettingsDialog, ShownSettings
from inspector_app.widgets import theme
from inspector_app.widgets.motion import Motion
from inspector_app.workspace.workspace import Workspace


class SettingsController(QObject):
    """A controller of the settings dialog. What a command of the window changes too is reported, and changed through that command.

    Signals:
        theme_chosen(str), text_scale_chosen(int), compact_rows_chosen(bool), recording_chosen(bool): another value was chosen.

    Args:
        work: the owners.
        motion: whether docks and menus may move.
        window: the window.
    """

    theme_chosen = Signal(str)
    text_scale_chosen = Signal(int)
    compact_rows_chosen = Signal(bool)
    recording_chosen = Signal(bool)

    def __init__(self, work: Workspace, motion: Motion, window: MainWindow) -> None:
        super().__init__(window)
        self._preferences = work.preferences
        self._prices = work.prices
        self._costs = work.costs
        self._sums = work.sums
        self._tasks = work.tasks
        self._motion = motion
        self._window = window

    def ask_for_keys(self) -> None:
        """Open the settings at the keys."""
        self.ask().show_keys()

    def ask(self) -> SettingsDialog:
        """Open the settings."""
        kept = self._preferences
        look = theme.current()
        unsaved = kept.unsaved_days, kept.unsaved_megabytes
        shown = ShownSettings(
            look.choice, look.scale, look.is_compact, kept.motion, kept.editor, kept.records_requests, *unsaved, kept.prices, kept.trusted
        )
        dialog = SettingsDialog(shown, self._window)
        dialog.theme_chosen.connect(self.theme_chosen)
        dialog.text_scale_chosen.connect(self.text_scale_chosen)
        dialog.compact_rows_chosen.connect(self.compact_rows_chosen)
        dialog.motion_chosen.connect(self._on_motion)
        dialog.editor_chosen.connect(self._on_editor)
        dialog.recording_chosen.connect(self.recording_chosen)
        dialog.unsaved_days_chosen.connect(self._on_unsaved_days)
        dialog.unsaved_megabytes_chosen.connect(self._on_unsaved_megabytes)
        dialog.prices_changed.connect(self._on_prices)
        dialog.trust_revoked.connect(kept.revoke_trust)
        KeysController(dialog.keys, self._tasks)
        dialog.open()
        return dialog

    def _on_motion(self, choice: str) -> None:
        self._preferences.motion = choice
        self._motion.choose(choice)

    def _on_editor(self, command: str) -> None:
        self._preferences.editor = command

    def _on_unsaved_days(self, days: int) -> None:
        self._preferences.unsaved_days = days

    def _on_unsaved_megabytes(self, megabytes: int) -> None:
        self._preferences.unsaved_megabytes = megabytes

    def _on_prices(self, prices: dict[str, Any]) -> None:
        self._preferences.keep_prices(prices)
        self._prices.set_own(own_prices(prices))
        self._costs.price_again()
        self._sums.price_again()

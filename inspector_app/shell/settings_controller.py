"""Opens the settings, applies what is chosen, and remembers it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject

from inspector_app.presentation.prices import Prices
from inspector_app.presentation.tokens import own_prices
from inspector_app.shell.keys_controller import KeysController
from inspector_app.shell.main_window import MainWindow
from inspector_app.shell.settings_dialog import SettingsDialog, ShownSettings
from inspector_app.support.preferences import Preferences
from inspector_app.support.tasks import Tasks
from inspector_app.widgets import theme
from inspector_app.workspace.session_costs import SessionCosts


class SettingsController(QObject):
    """A controller of the settings dialog. What a command of the window changes too is changed through that command.

    Args:
        preferences: where the settings are kept.
        prices: the prices that the window uses.
        costs: the costs that it displays.
        tasks: runs what the system's keyring may delay.
        window: the window.
    """

    def __init__(self, preferences: Preferences, prices: Prices, costs: SessionCosts, tasks: Tasks, window: MainWindow) -> None:
        super().__init__(window)
        self._preferences = preferences
        self._prices = prices
        self._costs = costs
        self._tasks = tasks
        self._window = window
        window.commands.settings.triggered.connect(self._on_settings)

    def _on_settings(self) -> None:
        kept = self._preferences
        look = theme.current()
        unsaved = kept.unsaved_days, kept.unsaved_megabytes
        shown = ShownSettings(
            look.choice, look.scale, look.is_compact, kept.motion, kept.editor, kept.records_requests, *unsaved, kept.prices
        )
        dialog = SettingsDialog(shown, self._window)
        dialog.theme_chosen.connect(self._on_theme)
        dialog.text_scale_chosen.connect(self._window.text_size.set_scale)
        dialog.compact_rows_chosen.connect(self._window.commands.compact_rows.setChecked)
        dialog.motion_chosen.connect(self._on_motion)
        dialog.editor_chosen.connect(self._on_editor)
        dialog.recording_chosen.connect(self._window.commands.record_requests.setChecked)
        dialog.unsaved_days_chosen.connect(self._on_unsaved_days)
        dialog.unsaved_megabytes_chosen.connect(self._on_unsaved_megabytes)
        dialog.prices_changed.connect(self._on_prices)
        KeysController(dialog.keys, self._tasks)
        dialog.open()

    def _on_theme(self, choice: str) -> None:
        self._window.commands.themes[choice].trigger()

    def _on_motion(self, choice: str) -> None:
        self._preferences.motion = choice
        self._window.motion.choose(choice)

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

"""The settings: how the window looks, the editor for code, recordings, keys, the prices of models, and what is trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFormLayout,
    QLineEdit,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from inspector_app.presentation.values import counted
from inspector_app.shell.keys_page import KeysPage
from inspector_app.shell.prices_page import PricesPage
from inspector_app.shell.trust_list_page import TrustListPage
from inspector_app.widgets import theme
from inspector_app.widgets.controls import push_button
from inspector_app.widgets.motion import MOTIONS

THEMES = {"system": "Follow the system", "light": "Light", "dark": "Dark", "contrast": "High contrast"}

DENSITIES = ("Comfortable", "Compact")

DAYS = (30, 7, 1, 0)

MEGABYTES = (100, 500, 2_000)


@dataclass(frozen=True, slots=True)
class ShownSettings:
    """What the dialog begins with.

    Attributes:
        theme: a key of `THEMES`.
        text_scale: one of `theme.SCALES`.
        compact_rows: whether rows are low.
        motion: a key of `MOTIONS`; others count as the first.
        editor: the command of the user's editor; empty for the default.
        records_requests: whether runs record their model requests.
        unsaved_days: how long unsaved sessions are kept; 0: in memory only.
        unsaved_megabytes: how much space they may take.
        prices: model → `{"input": …, "output": …, "cached": …}` in US dollars for a million tokens.
        trusted: see `Preferences.trusted`.
    """

    theme: str
    text_scale: int
    compact_rows: bool
    motion: str
    editor: str
    records_requests: bool
    unsaved_days: int
    unsaved_megabytes: int
    prices: Mapping[str, Any]
    trusted: Sequence[tuple[str, str]]


class SettingsDialog(QDialog):
    """A dialog whose choices apply at once. Open it with `open()`.

    Signals:
        theme_chosen(str), text_scale_chosen(int), compact_rows_chosen(bool), motion_chosen(str), editor_chosen(str),
            recording_chosen(bool), unsaved_days_chosen(int), unsaved_megabytes_chosen(int): one setting was changed.
        prices_changed(dict): the own prices, without incomplete rows.
        trust_revoked(list[str]): these folders and servers are not trusted any more.

    Attributes:
        keys: the page of keys, empty until it is filled.

    Args:
        shown: the present settings.
    """

    theme_chosen = Signal(str)
    text_scale_chosen = Signal(int)
    compact_rows_chosen = Signal(bool)
    motion_chosen = Signal(str)
    editor_chosen = Signal(str)
    recording_chosen = Signal(bool)
    unsaved_days_chosen = Signal(int)
    unsaved_megabytes_chosen = Signal(int)
    prices_changed = Signal(dict)
    trust_revoked = Signal(list)

    def __init__(self, shown: ShownSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("settings_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Settings")
        self._theme = self._choice("settings_theme", "Theme", THEMES.values(), list(THEMES).index(shown.theme))
        self._theme.activated.connect(self._on_theme)
        sizes = [f"{scale} %" for scale in theme.SCALES]
        self._size = self._choice("settings_text_size", "Text size", sizes, theme.SCALES.index(shown.text_scale))
        self._size.activated.connect(self._on_size)
        self._density = self._choice("settings_density", "Rows", DENSITIES, int(shown.compact_rows))
        self._density.activated.connect(self._on_density)
        motion = list(MOTIONS).index(shown.motion) if shown.motion in MOTIONS else 0
        self._motion = self._choice("settings_motion", "Motion", MOTIONS.values(), motion)
        self._motion.setToolTip("Reduced: panes do not slide, menus do not fade, and the text cursor does not blink.")
        self._motion.activated.connect(self._on_motion)
        self._editor = QLineEdit(shown.editor)
        self._editor.setObjectName("settings_editor")
        self._editor.setAccessibleName("Command of your editor")
        self._editor.setPlaceholderText("$VISUAL, $EDITOR, or one that is installed")
        self._editor.setToolTip("Such as code or vim. {file} and {line} in it are replaced.")
        self._editor.editingFinished.connect(self._on_editor)
        self._recording = QCheckBox("Record what models are asked, beside the database")
        self._recording.setObjectName("settings_recording")
        self._recording.setToolTip("In NAME.rec.db, without passwords and keys. Counts from the next run on.")
        self._recording.setChecked(shown.records_requests)
        self._recording.toggled.connect(self.recording_chosen)
        self._days = self._numbers("settings_unsaved_days", "How long unsaved sessions are kept", shown.unsaved_days, DAYS, _days_text)
        self._days.setToolTip(
            "Sessions without a database of yours are in a file of the program's own, so that nothing is lost when the window is killed."
            " Do not keep: they are in memory only, from the next session on."
        )
        self._days.activated.connect(self._on_days)
        space = shown.unsaved_megabytes
        self._megabytes = self._numbers("settings_unsaved_megabytes", "Space for unsaved sessions", space, MEGABYTES, _size_text)
        self._megabytes.setToolTip("Beyond it the oldest of earlier windows are deleted at the next start, but never the last one.")
        self._megabytes.activated.connect(self._on_megabytes)
        self._megabytes.setEnabled(shown.unsaved_days > 0)
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(10)
        for label, field in (
            ("Theme", self._theme),
            ("Text size", self._size),
            ("Rows", self._density),
            ("Motion", self._motion),
            ("Editor for code", self._editor),
            ("Requests", self._recording),
            ("Unsaved sessions", self._days),
            ("At most", self._megabytes),
        ):
            form.addRow(label, field)
        self.keys = KeysPage()
        prices = PricesPage(shown.prices)
        prices.prices_changed.connect(self.prices_changed)
        trusted = TrustListPage(shown.trusted)
        trusted.revoked.connect(self.trust_revoked)
        general = QWidget()
        form.setContentsMargins(14, 14, 14, 14)
        general.setLayout(form)
        self.pages = QTabWidget()
        self.pages.setObjectName("settings_pages")
        self.pages.setAccessibleName("Pages of the settings")
        for page, title in ((general, "General"), (self.keys, "Keys"), (prices, "Prices"), (trusted, "Trust")):
            self.pages.addTab(page, title)
        close = push_button("Close", "settings_close", self.accept)
        close.setDefault(True)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(18, 16, 18, 14)
        rows.setSpacing(12)
        rows.addWidget(self.pages, 1)
        rows.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        self.resize(theme.px(620), theme.px(520))

    def show_keys(self) -> None:
        """Show the page of keys."""
        self.pages.setCurrentWidget(self.keys)

    def _choice(self, name: str, title: str, texts: Any, current: int) -> QComboBox:
        box = QComboBox()
        box.setObjectName(name)
        box.setAccessibleName(title)
        box.addItems(list(texts))
        box.setCurrentIndex(current)
        return box

    def _numbers(self, name: str, title: str, chosen: int, offered: tuple[int, ...], text: Callable[[int], str]) -> QComboBox:
        values = offered if chosen in offered else (*offered, chosen)
        box = self._choice(name, title, map(text, values), values.index(chosen))
        for index, value in enumerate(values):
            box.setItemData(index, value)
        return box

    def _on_days(self) -> None:
        self._megabytes.setEnabled(self._days.currentData() > 0)
        self.unsaved_days_chosen.emit(self._days.currentData())

    def _on_megabytes(self) -> None:
        self.unsaved_megabytes_chosen.emit(self._megabytes.currentData())

    def _on_theme(self, index: int) -> None:
        self.theme_chosen.emit(list(THEMES)[index])

    def _on_size(self, index: int) -> None:
        self.text_scale_chosen.emit(theme.SCALES[index])

    def _on_density(self, index: int) -> None:
        self.compact_rows_chosen.emit(bool(index))

    def _on_motion(self, index: int) -> None:
        self.motion_chosen.emit(list(MOTIONS)[index])

    def _on_editor(self) -> None:
        self.editor_chosen.emit(self._editor.text().strip())


def _days_text(days: int) -> str:
    return "Do not keep" if days == 0 else f"Keep for {counted(days, 'day')}"


def _size_text(megabytes: int) -> str:
    return f"{megabytes:,} MB" if megabytes % 1_000 else f"{megabytes // 1_000:,} GB"

"""The settings: how the window looks, the editor for code, recordings, and the prices of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inspector_app.presentation.tokens import own_price
from inspector_app.widgets import theme

THEMES = {"system": "Follow the system", "light": "Light", "dark": "Dark", "contrast": "High contrast"}
_COLUMNS = ("Model", "Input", "Output", "Cached")
_ROW_HEIGHT = 26


@dataclass(frozen=True, slots=True)
class ShownSettings:
    """What the dialog begins with.

    Attributes:
        theme: a key of `THEMES`.
        text_scale: one of `theme.SCALES`.
        editor: the command of the user's editor; empty for the default.
        records_requests: whether runs record their model requests.
        prices: model → `{"input": …, "output": …, "cached": …}` in US dollars for a million tokens.
    """

    theme: str
    text_scale: int
    editor: str
    records_requests: bool
    prices: Mapping[str, Any]


class SettingsDialog(QDialog):
    """A dialog whose choices apply at once. Open it with `open()`.

    Signals:
        theme_chosen(str), text_scale_chosen(int), editor_chosen(str), recording_chosen(bool): one setting was changed.
        prices_changed(dict): the own prices, without incomplete rows.

    Args:
        shown: the present settings.
    """

    theme_chosen = Signal(str)
    text_scale_chosen = Signal(int)
    editor_chosen = Signal(str)
    recording_chosen = Signal(bool)
    prices_changed = Signal(dict)

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
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(10)
        for label, field in (
            ("Theme", self._theme),
            ("Text size", self._size),
            ("Editor for code", self._editor),
            ("Requests", self._recording),
        ):
            form.addRow(label, field)
        self._table = self._price_table(shown.prices)
        close = self._button("Close", "settings_close", self.accept)
        close.setDefault(True)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(18, 16, 18, 14)
        rows.setSpacing(12)
        rows.addLayout(form)
        rows.addWidget(self._heading())
        rows.addWidget(self._table, 1)
        buttons = QHBoxLayout()
        buttons.addWidget(self._button("Add a model", "settings_add_price", self._on_add))
        buttons.addWidget(self._button("Remove", "settings_remove_price", self._on_remove))
        buttons.addStretch(1)
        buttons.addWidget(close)
        rows.addLayout(buttons)
        self.resize(theme.px(620), theme.px(520))

    def _heading(self) -> QLabel:
        heading = QLabel("Your prices, in US dollars for a million tokens. They are used in place of the bundled ones.")
        heading.setProperty("role", "dim")
        heading.setWordWrap(True)
        return heading

    def _choice(self, name: str, title: str, texts: Any, current: int) -> QComboBox:
        box = QComboBox()
        box.setObjectName(name)
        box.setAccessibleName(title)
        box.addItems(list(texts))
        box.setCurrentIndex(current)
        return box

    def _price_table(self, prices: Mapping[str, Any]) -> QTableWidget:
        table = QTableWidget(0, len(_COLUMNS))
        table.setObjectName("settings_prices")
        table.setAccessibleName("Your prices of models")
        table.setHorizontalHeaderLabels(_COLUMNS)
        table.verticalHeader().hide()
        table.setTabKeyNavigation(False)
        theme.keep_row_height(table, _ROW_HEIGHT)
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for model, price in prices.items():
            values = price if isinstance(price, Mapping) else {}
            self._add_row(table, model, *(str(values.get(name, "")) for name in ("input", "output", "cached")))
        table.itemChanged.connect(self._on_price_changed)
        return table

    def _add_row(self, table: QTableWidget, *texts: str) -> None:
        row = table.rowCount()
        table.insertRow(row)
        for column, text in enumerate(texts):
            item = QTableWidgetItem(text)
            if column:
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            table.setItem(row, column, item)

    def _button(self, text: str, name: str, slot: Callable[[], Any]) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setAutoDefault(False)
        button.clicked.connect(slot)
        return button

    def _on_theme(self, index: int) -> None:
        self.theme_chosen.emit(list(THEMES)[index])

    def _on_size(self, index: int) -> None:
        self.text_scale_chosen.emit(theme.SCALES[index])

    def _on_editor(self) -> None:
        self.editor_chosen.emit(self._editor.text().strip())

    def _on_add(self) -> None:
        self._table.blockSignals(True)
        self._add_row(self._table, "", "", "", "")
        self._table.blockSignals(False)
        self._table.setCurrentCell(self._table.rowCount() - 1, 0)
        self._table.setFocus()
        self._table.editItem(self._table.currentItem())

    def _on_remove(self) -> None:
        row = self._table.currentRow()
        if row >= 0:
            self._table.removeRow(row)
            self._on_price_changed()

    def _on_price_changed(self, _item: QTableWidgetItem | None = None) -> None:
        prices: dict[str, dict[str, float]] = {}
        for row in range(self._table.rowCount()):
            model, *numbers = (self._text(row, column) for column in range(len(_COLUMNS)))
            given, output, cached = numbers
            price = own_price(given, output, cached or given)
            self._mark(row, is_wrong=bool(given or output or cached) and price is None)
            if model and price is not None:
                prices[model] = {"input": float(price.input), "output": float(price.output), "cached": float(price.cached)}
        self.prices_changed.emit(prices)

    def _text(self, row: int, column: int) -> str:
        item = self._table.item(row, column)
        return item.text().strip() if item is not None else ""

    def _mark(self, row: int, *, is_wrong: bool) -> None:
        """Show which rows are not used: a number is missing, negative or not a number."""
        self._table.blockSignals(True)
        for column in range(1, len(_COLUMNS)):
            item = self._table.item(row, column)
            if item is not None:
                item.setForeground(theme.color("bad" if is_wrong else "text"))
                item.setToolTip("Needs an input and an output price: numbers of 0 or more, such as 0.30." if is_wrong else "")
        self._table.blockSignals(False)

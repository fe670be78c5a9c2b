"""The page of the settings with the user's own prices of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QLabel, QPushButton, QTableWidget, QTableWidgetItem, QVBoxLayout, QWidget

from inspector_app.presentation.tokens import own_price
from inspector_app.widgets import theme
from inspector_app.widgets.controls import push_button

_COLUMNS = ("Model", "Input", "Output", "Cached")
_ROW_HEIGHT = 26


class PricesPage(QWidget):
    """A table of prices, which apply as they are typed.

    Signals:
        prices_changed(dict): the prices, without incomplete rows.

    Args:
        prices: model → `{"input": …, "output": …, "cached": …}` in US dollars for a million tokens.
    """

    prices_changed = Signal(dict)

    def __init__(self, prices: Mapping[str, Any]) -> None:
        super().__init__()
        heading = QLabel("Your prices, in US dollars for a million tokens. They are used in place of the bundled ones.")
        heading.setProperty("role", "dim")
        heading.setWordWrap(True)
        self._table = self._price_table(prices)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(14, 14, 14, 14)
        rows.setSpacing(12)
        rows.addWidget(heading)
        rows.addWidget(self._table, 1)
        buttons = QHBoxLayout()
        buttons.addWidget(self._button("Add a model", "settings_add_price", self._on_add))
        self._remove = self._button("Remove", "settings_remove_price", self._on_remove)
        self._remove.setAccessibleName("Remove the selected price")
        self._remove.setEnabled(False)
        self._table.currentCellChanged.connect(self._on_current_changed)
        buttons.addWidget(self._remove)
        buttons.addStretch(1)
        rows.addLayout(buttons)

    def _price_table(self, prices: Mapping[str, Any]) -> QTableWidget:
        table = QTableWidget(0, len(_COLUMNS))
        table.setObjectName("settings_prices")
        table.setAccessibleName("Your prices of models")
        for column, title in enumerate(_COLUMNS):
            heading = QTableWidgetItem(title)
            side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
            heading.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
            table.setHorizontalHeaderItem(column, heading)
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
        button = push_button(text, name)
        button.setAutoDefault(False)
        button.clicked.connect(slot)
        return button

    def _on_add(self) -> None:
        self._table.blockSignals(True)
        self._add_row(self._table, "", "", "", "")
        self._table.blockSignals(False)
        self._table.setCurrentCell(self._table.rowCount() - 1, 0)
        self._table.setFocus()
        self._table.editItem(self._table.currentItem())

    def _on_current_changed(self, row: int, *_: int) -> None:
        self._remove.setEnabled(row >= 0)

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

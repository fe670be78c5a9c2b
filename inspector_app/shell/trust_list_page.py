"""The page of the settings with what the user trusts."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from inspector_app.presentation.values import plain_tooltip, visible
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.layouts import laid_out, named

_HEADING = (
    "Folders whose code may run, and other machines whose servers may be opened. An agent that is loaded stays loaded;"
    " the next time, you are asked again."
)


class TrustListPage(QWidget):
    """A list of what is trusted.

    Signals:
        revoked(list[str]): these names are not trusted any more.

    Args:
        trusted: each name, and what is trusted about it.
    """

    revoked = Signal(list)

    def __init__(self, trusted: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._list = named(QTreeWidget(), "settings_trusted", "What you trust")
        self._list.setHeaderLabels(["Folder or server", "Trusted"])
        self._list.setRootIsDecorated(False)
        self._list.setUniformRowHeights(True)
        self._list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._list.setSelectionMode(QTreeWidget.SelectionMode.ExtendedSelection)
        self._list.header().setStretchLastSection(False)
        self._list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        for name, what in trusted:
            item = QTreeWidgetItem([visible(name), what])
            item.setData(0, Qt.ItemDataRole.UserRole, name)
            item.setToolTip(0, plain_tooltip(name))
            self._list.addTopLevelItem(item)
        self._list.itemSelectionChanged.connect(self._on_selected)
        self._revoke = push_button("Revoke", "settings_revoke", self._on_revoke, does="Trust the selected ones no longer")
        self._revoke.setAutoDefault(False)
        self._revoke.setEnabled(False)
        buttons = laid_out(QHBoxLayout(), self._revoke, 1)
        laid_out(QVBoxLayout(self), plain_label(_HEADING, role="dim", wraps=True), (self._list, 1), buttons, margins=14, spacing=12)

    def _on_selected(self) -> None:
        self._revoke.setEnabled(bool(self._list.selectedItems()))

    def _on_revoke(self) -> None:
        chosen = self._list.selectedItems()
        self.revoked.emit([item.data(0, Qt.ItemDataRole.UserRole) for item in chosen])
        for item in chosen:
            self._list.takeTopLevelItem(self._list.indexOfTopLevelItem(item))

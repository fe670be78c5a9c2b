"""A tree view of values: copies values, opens long texts, and keeps its expanded branches when the values change."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QHeaderView, QMenu, QTreeView, QWidget

from inspector_app.widgets import theme
from inspector_app.widgets.clipboard import add_copy_action, as_json, as_python
from inspector_app.widgets.filter_actions import add_filter_actions
from inspector_app.widgets.row_menu import RowMenu
from inspector_app.widgets.text_dialog import TextDialog
from inspector_app.widgets.value_delegate import ValueDelegate
from inspector_app.widgets.value_tree import FILES, PINNED, ValueNode, ValueTreeModel

_MOST_OPENED = 50  # rows of one container expanded at first; each costs layout time
_MEASURED = 100  # rows whose texts are measured for the columns' widths
_LEAST_KEYS = 160  # pixels; minimum width of the keys, so that the column seldom moves between events


class ValueTreeView(QTreeView):
    """A view of a `ValueTreeModel`.

    Args:
        model: the values.
        open_depth: number of levels expanded at first.

    Signals:
        writer_requested (int): the user asked for the event at this position, which wrote a value.
        writers_requested (str): the user asked who wrote this state key.
        pin_requested (str): the user pinned or unpinned this state key.
        filter_requested (str): the user chose a filter expression.
    """

    writer_requested = Signal(int)
    writers_requested = Signal(str)
    pin_requested = Signal(str)
    filter_requested = Signal(str)

    def __init__(self, model: ValueTreeModel, *, open_depth: int = 1, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values = model
        self._open_depth = open_depth
        self._toggled: dict[tuple[str, ...], bool] = {}
        self._restoring = False
        self.setModel(model)
        self.setItemDelegate(ValueDelegate(self))
        self.setProperty("bare", "true")
        self.setUniformRowHeights(True)
        self.setIndentation(14)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        columns = self.header()
        columns.setSectionsMovable(False)
        columns.setStretchLastSection(True)
        columns.setMinimumSectionSize(60)
        columns.setSectionResizeMode(0, QHeaderView.ResizeMode.Interactive)
        columns.setResizeContentsPrecision(_MEASURED)
        columns.resizeSection(0, _LEAST_KEYS)
        self._current: tuple[str, ...] = ()
        model.modelAboutToBeReset.connect(self._on_model_about_to_reset)
        model.modelReset.connect(self._on_model_reset)
        self.expanded.connect(self._on_expanded)
        self.collapsed.connect(self._on_collapsed)
        RowMenu(self, self.context_menu)
        self._since_more = QElapsedTimer()  # since a click showed more rows
        self.clicked.connect(self._on_clicked)
        self.doubleClicked.connect(self._on_double_clicked)
        self._on_model_reset()

    def fit_columns(self) -> None:
        """Distribute the width: keys and writers get what they need up to a share, values get the rest."""
        columns, width = self.header(), self.viewport().width()
        needed = self.sizeHintForColumn(0)
        keys = min(max(needed, columns.sectionSizeHint(0)), int(width * 0.4))
        if columns.count() != 3:
            room = width - self.sizeHintForColumn(1)  # short values leave more room for the keys
            columns.resizeSection(0, max(keys, _LEAST_KEYS, min(needed, room)))
            return
        columns.setStretchLastSection(False)
        columns.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        columns.setSectionResizeMode(2, QHeaderView.ResizeMode.Interactive)
        columns.resizeSection(0, max(keys, 110))
        columns.resizeSection(2, min(max(self.sizeHintForColumn(2), columns.sectionSizeHint(2)), int(width * 0.28)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Distribute the new width."""
        super().resizeEvent(event)
        self.fit_columns()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pin or unpin the current key with P; open the current value with Enter."""
        node = self._values.node(self.currentIndex())
        if event.key() == Qt.Key.Key_P and not event.modifiers() and node.parent is not None and node.parent.lane not in ("", FILES):
            self.pin_requested.emit(node.key)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and node.parent is not None and not node.has_children and not node.lane:
            self._open(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def _on_model_about_to_reset(self) -> None:
        self._current = _path(self._values.node(self.currentIndex()))

    def _on_model_reset(self) -> None:
        bar = self.verticalScrollBar()
        position = bar.value()
        self._restoring = True
        self._open_branches(QModelIndex(), 0)
        self._restoring = False
        self._select_again()
        self.fit_columns()
        bar.setValue(position)

    def _select_again(self) -> None:
        """Restore the selection by its path, if the path still exists."""
        index = QModelIndex()
        for key in self._current:
            rows = (self._values.index(row, 0, index) for row in range(self._values.rowCount(index)))
            index = next((found for found in rows if self._values.node(found).key == key), QModelIndex())
            if not index.isValid():
                return
        if index.isValid():
            self.setCurrentIndex(index)

    def _open_branches(self, parent: QModelIndex, depth: int) -> None:
        """Restore expanded branches by path, because new values have new nodes."""
        if depth >= self._open_depth and not any(len(path) == depth + 1 for path in self._toggled):
            return
        for row in range(self._values.rowCount(parent)):
            if row >= _MOST_OPENED and not self._toggled:
                break
            index = self._values.index(row, 0, parent)
            opened = depth < self._open_depth and row < _MOST_OPENED
            if self._toggled.get(_path(self._values.node(index)), opened) and self._values.hasChildren(index):
                self.setExpanded(index, True)
                self._open_branches(index, depth + 1)

    def _on_expanded(self, index: QModelIndex) -> None:
        if not self._restoring:
            self._toggled[_path(self._values.node(index))] = True

    def _on_collapsed(self, index: QModelIndex) -> None:
        self._toggled[_path(self._values.node(index))] = False

    def _on_clicked(self, index: QModelIndex) -> None:
        if self._values.node(index).left:
            self._values.show_more(index)
            self._since_more.start()

    def _on_double_clicked(self, index: QModelIndex) -> None:
        if self._since_more.isValid() and self._since_more.elapsed() < QApplication.doubleClickInterval():
            return  # another row is below the mouse since the first click
        node = self._values.node(index)
        if index.column() == 2 and node.writer_index is not None:
            self.writer_requested.emit(node.writer_index)
            return
        if not node.has_children and not node.lane:
            self._open(index)

    def _open(self, index: QModelIndex) -> None:
        node = self._values.node(index)
        if node.left:
            self._values.show_more(index)
        else:
            self._open_full(node)

    def _open_full(self, node: ValueNode) -> None:
        text = node.value if isinstance(node.value, str) else as_json(node.value)
        TextDialog(node.shown_key, text, self, prose=isinstance(node.value, str)).open()

    def context_menu(self, index: QModelIndex) -> QMenu | None:
        """Return the menu of a row; None for no row or a lane's title."""
        node = self._values.node(index)
        if not index.isValid() or node.lane:
            return None
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if node.left:
            place = QPersistentModelIndex(index)
            menu.addAction(node.text).triggered.connect(lambda: self._values.show_more(place))
            return menu
        add_copy_action(menu, "Copy value as JSON", as_json(node.value))
        add_copy_action(menu, "Copy value as Python", as_python(as_json(node.value)))
        add_copy_action(menu, "Copy path", node.path)
        add_copy_action(menu, "Copy key", node.key)
        menu.addSeparator()
        add_filter_actions(menu, self._values.filters_of(node), self.filter_requested.emit)
        self._menu_node = node
        self._menu_index = index
        if node.writer_index is not None:
            menu.addAction(theme.icon("arrow-right", "dim"), f"Go to {node.writer}").triggered.connect(self._on_go_to_writer)
        if node.parent is not None and node.parent.lane not in ("", FILES):
            pinned = node.parent.lane == PINNED
            menu.addAction(theme.icon("thumbtack", "dim"), "Unpin\tP" if pinned else "Pin\tP").triggered.connect(self._on_pin)
        if self.selected_key(index) is not None:
            menu.addAction(theme.icon("user-pen", "dim"), "Who wrote this key\tCtrl+Shift+W").triggered.connect(self._on_who_wrote)
        menu.addAction(theme.icon("up-right-from-square", "dim"), "Open full…").triggered.connect(self._on_open_full)
        return menu

    def _on_go_to_writer(self) -> None:
        if self._menu_node.writer_index is not None:
            self.writer_requested.emit(self._menu_node.writer_index)

    def _on_pin(self) -> None:
        self.pin_requested.emit(self._menu_node.key)

    def selected_key(self, index: QModelIndex | None = None) -> str | None:
        """Return the state key a row belongs to, the current row by default; None if it belongs to none."""
        node = self._values.node(self.currentIndex() if index is None else index)
        while node.parent is not None and not node.parent.lane:
            node = node.parent
        return node.key if node.parent is not None and node.parent.lane != FILES else None

    def _on_who_wrote(self) -> None:
        key = self.selected_key(self._menu_index)
        if key is not None:
            self.writers_requested.emit(key)

    def _on_open_full(self) -> None:
        self._open_full(self._menu_node)


def _path(node: ValueNode) -> tuple[str, ...]:
    keys: list[str] = []
    above: ValueNode | None = node
    while above is not None and above.parent is not None:
        keys.append(above.key)
        above = above.parent
    return tuple(reversed(keys))

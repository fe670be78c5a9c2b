"""A lazily expanded tree of JSON values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from inspector_app.presentation.value_filters import filters_of_value, path_below, state_root
from inspector_app.presentation.values import plain_tooltip, preview, shown_key

Index = QModelIndex | QPersistentModelIndex

NODE_ROLE = Qt.ItemDataRole.UserRole + 1  # the `ValueNode` of an index

MAX_CHILDREN = 1_000  # children shown per container until the user asks for all: laying out ten thousands takes seconds
MORE_AT_ONCE = 50_000  # children added by *Show all*; a second

_LONG = 80  # characters; longer texts seldom fit into a cell

PREVIEW_LIMIT = 200


class ValueNode:
    """A key and its value. The children are made on first access.

    Attributes:
        parent: the node above; None for the invisible root.
        row: position among its siblings.
        key: the key, unescaped: a key of foreign data may contain control characters.
        value: the value itself.
        path: the Python expression that reaches the value, such as `state["cart"][0]`.
        note: text shown instead of a preview of the value.
        rest, left: of the last row of a long container: the children that are not shown yet, and their number.
        mark: `added`, `changed`, `cleared` or `unknown`; empty for none.
        lane: the scope, for a lane's title row; empty for other nodes.
        writer: text that names the writer of the value; empty if it is not shown.
        writer_index: position of the writing event; None if no event of this session wrote the value.
    """

    __slots__ = ("_children", "key", "lane", "left", "mark", "note", "parent", "path", "rest", "row", "value", "writer", "writer_index")

    def __init__(
        self,
        parent: ValueNode | None,
        row: int,
        key: str,
        value: Any,
        path: str,
        *,
        note: str | None = None,
        mark: str = "",
        lane: str = "",
    ) -> None:
        self.parent = parent
        self.row = row
        self.key = key
        self.value = value
        self.path = path
        self.note = note
        self.mark = mark
        self.lane = lane
        self.writer = ""
        self.writer_index: int | None = None
        self.rest: Iterator[ValueNode] = iter(())
        self.left = 0
        self._children: list[ValueNode] | None = None

    @property
    def shown_key(self) -> str:
        """The key with control characters made visible."""
        return shown_key(self.key)

    @property
    def text(self) -> str:
        """The value in one line."""
        return preview(self.value, PREVIEW_LIMIT) if self.note is None else self.note

    @property
    def has_children(self) -> bool:
        """Whether the node has children; does not make them."""
        if self._children is not None:
            return bool(self._children)
        return isinstance(self.value, (dict, list, tuple)) and bool(self.value)

    @property
    def children(self) -> Sequence[ValueNode]:
        """The children, made on first access; of many, those shown so far and a last row with `left`."""
        if self._children is None:
            self._children = []
            self._children += self._next(*self._values(), MAX_CHILDREN)
        return self._children

    def set_children(self, children: Sequence[ValueNode]) -> None:
        """Set children that do not come from the value."""
        self._children = self._next(iter(children), len(children), MAX_CHILDREN)

    def take_last(self) -> None:
        """Remove the last row, which offers more children."""
        assert self._children is not None
        self._children.pop()

    def more(self, last: ValueNode) -> list[ValueNode]:
        """Return the children that the row `last` offered; all, if there are not too many."""
        return self._next(last.rest, last.left, MORE_AT_ONCE, last.row)

    def add_children(self, nodes: list[ValueNode]) -> None:
        """Add the result of `more`."""
        assert self._children is not None
        self._children += nodes

    def _values(self) -> tuple[Iterator[ValueNode], int]:
        """Return a node for each item of the value, and their number."""
        if isinstance(self.value, dict):
            items = ((str(key), item, f"{self.path}[{key!r}]") for key, item in self.value.items())
        elif isinstance(self.value, (list, tuple)):
            items = ((f"[{number}]", item, f"{self.path}[{number}]") for number, item in enumerate(self.value))
        else:
            return iter(()), 0
        return (ValueNode(self, row, key, item, path) for row, (key, item, path) in enumerate(items)), len(self.value)

    def _next(self, nodes: Iterator[ValueNode], count: int, most: int, first: int = 0) -> list[ValueNode]:
        """Return the next nodes, and a row that offers the rest."""
        shown = list(islice(nodes, most if count > most + 1 else count))  # a row for a single node would only take its place
        left = count - len(shown)
        if left:
            whole = first + count
            offer = f"Show all {whole:,}" if left <= MORE_AT_ONCE else f"Show {MORE_AT_ONCE:,} more of {whole:,}"
            last = ValueNode(self, first + len(shown), "…", None, self.path, note=offer, mark="unknown")
            last.rest, last.left = nodes, left
            shown.append(last)
        return shown


class ValueTreeModel(QAbstractItemModel):
    """A tree of values with the columns key and value, and in subclasses a third for the writer."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._root = ValueNode(None, 0, "", None, "")
        self._headings: tuple[str, ...] = ("Key", "Value")
        self._roots: Mapping[str, str] = {}

    def set_values(
        self, values: dict[str, Any], headings: tuple[str, str] = ("Key", "Value"), roots: Mapping[str, str] | None = None
    ) -> None:
        """Replace the values.

        Args:
            values: top-level rows, title → value.
            headings: titles of the two columns.
            roots: title → path in a filter expression, for values that filters can query.
        """
        self._roots = roots or {}
        root = ValueNode(None, 0, "", None, "")
        root.set_children([ValueNode(root, row, key, value, key) for row, (key, value) in enumerate(values.items())])
        self._show(root, headings)

    def _show(self, root: ValueNode, headings: tuple[str, ...]) -> None:
        self.beginResetModel()
        self._root = root
        self._headings = headings
        self.endResetModel()

    def show_more(self, index: Index) -> None:
        """Show more children of a long container.

        Args:
            index: its last row, which has `left`.
        """
        last, parent = self.node(index), self.parent(index)
        above = last.parent
        assert above is not None
        self.beginRemoveRows(parent, last.row, last.row)
        above.take_last()
        self.endRemoveRows()
        more = above.more(last)
        self.beginInsertRows(parent, last.row, last.row + len(more) - 1)
        above.add_children(more)
        self.endInsertRows()

    def node(self, index: Index) -> ValueNode:
        """Return the node of an index; the root for an invalid index."""
        if not index.isValid():
            return self._root
        found: ValueNode = index.internalPointer()
        return found

    def filters_of(self, node: ValueNode) -> list[tuple[str, str]]:
        """Return filters that match events with the same value, as pairs of label and filter expression."""
        if node.mark == "unknown" or node.parent is None:
            return []
        steps: list[str | int] = []
        top = node
        while top.parent is not None and top.parent.parent is not None and not top.parent.lane:
            steps.insert(0, top.key if isinstance(top.parent.value, dict) else top.row)
            top = top.parent
        root = state_root(top.key) if top.parent is not None and top.parent.lane else self._roots.get(top.key, "")
        return filters_of_value(path_below(root, steps), node.value) if root else []

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """Return the index of a child."""
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, self.node(parent).children[row])

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        """Return the parent's index."""
        above = self.node(index).parent if index.isValid() else None
        if above is None or above.parent is None:
            return QModelIndex()
        return self.createIndex(above.row, 0, above)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of children."""
        if parent.column() > 0:
            return 0
        return len(self.node(parent).children)

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008
        """Return whether a node has children, without making them."""
        return parent.column() <= 0 and self.node(parent).has_children

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return the number of columns, 2 or 3."""
        return len(self._headings)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a column's heading."""
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._headings[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the text of a cell, its node, its tooltip or its accessible text."""
        if not index.isValid():
            return None
        node = self.node(index)
        if role == Qt.ItemDataRole.DisplayRole:
            return (node.shown_key, node.text, node.writer)[index.column()]
        if role == NODE_ROLE:
            return node
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tooltip(node, index.column())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            written = f"written by {node.writer}" if node.writer else ""
            return " ".join(filter(None, [node.shown_key, node.mark, node.text, written]))
        return None

    def _tooltip(self, node: ValueNode, column: int) -> str | None:
        if node.lane:
            return None
        if column == 0:
            return plain_tooltip(node.path)
        if column == 2:
            return plain_tooltip(node.writer) if node.writer else None
        if node.note is not None:
            return plain_tooltip(node.note)
        is_long = isinstance(node.value, str) and len(node.value) > _LONG
        return plain_tooltip(preview(node.value, 1500) + ("\n\nDouble-click or press Enter to open the full text." if is_long else ""))


FILES = "files"  # `lane` of the saved files
PINNED = "pinned"  # `lane` of the pinned keys, which come first in any scope

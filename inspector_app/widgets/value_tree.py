"""JSON values as a tree that is opened as far as someone looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from inspector_app.presentation.value_filters import filters_of_value, path_below, state_root
from inspector_app.presentation.values import plain_tooltip, preview, shown_key

Index = QModelIndex | QPersistentModelIndex

NODE_ROLE = Qt.ItemDataRole.UserRole + 1
"""The `ValueNode` behind an index."""

MAX_CHILDREN = 1000
"""Most children shown of one container; a last row says how many more there are."""

_LONG = 80
"""Characters of a text that seldom has room in its cell."""

PREVIEW_LIMIT = 200


class ValueNode:
    """A key and its value; children are made when they are first asked for.

    Attributes:
        parent: the node above, None for the invisible root.
        row: its place among its siblings.
        key: as shown; for keys of foreign data control characters are still in it.
        value: the value itself.
        path: how code reaches it, such as `state["cart"][0]`.
        note: shown instead of a preview of the value.
        mark: `added`, `changed`, `cleared` or `unknown`; empty for nothing special.
        lane: the scope, for the four lanes; empty for anything else.
        writer: who wrote it, in words; empty where that is not told.
        writer_index: the writing event's place; None where no event of this session did.
    """

    __slots__ = ("_children", "key", "lane", "mark", "note", "parent", "path", "row", "value", "writer", "writer_index")

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
        self._children: list[ValueNode] | None = None

    @property
    def shown_key(self) -> str:
        """The key as it is shown."""
        return shown_key(self.key)

    @property
    def text(self) -> str:
        """The value on one line."""
        return preview(self.value, PREVIEW_LIMIT) if self.note is None else self.note

    @property
    def has_children(self) -> bool:
        """Whether there is anything inside."""
        if self._children is not None:
            return bool(self._children)
        return isinstance(self.value, (dict, list, tuple)) and bool(self.value)

    @property
    def children(self) -> Sequence[ValueNode]:
        """What is inside."""
        if self._children is None:
            self._children = self._make_children()
        return self._children

    def set_children(self, children: list[ValueNode]) -> None:
        """Give it children that are not made from its value."""
        self._children = children

    def _make_children(self) -> list[ValueNode]:
        if isinstance(self.value, dict):
            items = [(str(key), item, f"{self.path}[{key!r}]") for key, item in _first(self.value.items())]
        elif isinstance(self.value, (list, tuple)):
            items = [(f"[{number}]", item, f"{self.path}[{number}]") for number, item in enumerate(_first(self.value))]
        else:
            return []
        nodes = [ValueNode(self, number, key, item, path) for number, (key, item, path) in enumerate(items)]
        left = len(self.value) - len(nodes)
        if left:
            nodes.append(ValueNode(self, len(nodes), "…", None, self.path, note=f"{left:,} more, see JSON", mark="unknown"))
        return nodes


def _first(items: Any) -> list[Any]:
    return [item for _, item in zip(range(MAX_CHILDREN), items, strict=False)]


class ValueTreeModel(QAbstractItemModel):
    """A tree of values in two columns, key and value, or a third for who wrote it."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._root = ValueNode(None, 0, "", None, "")
        self._headings: tuple[str, ...] = ("key", "value")
        self._roots: Mapping[str, str] = {}

    def set_values(
        self, values: dict[str, Any], headings: tuple[str, str] = ("key", "value"), roots: Mapping[str, str] | None = None
    ) -> None:
        """Show other values.

        Args:
            values: title → value, each a row at the top.
            headings: of the two columns.
            roots: title → its path in a filter, for those that a filter can ask for.
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

    def node(self, index: Index) -> ValueNode:
        """Return the node behind an index, the root for an invalid one."""
        if not index.isValid():
            return self._root
        found: ValueNode = index.internalPointer()
        return found

    def filters_of(self, node: ValueNode) -> list[tuple[str, str]]:
        """Return filters that let events with the same value through: words for a menu, and the filter."""
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
        """Return the index of the node above."""
        above = self.node(index).parent if index.isValid() else None
        if above is None or above.parent is None:
            return QModelIndex()
        return self.createIndex(above.row, 0, above)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return how many children there are."""
        if parent.column() > 0:
            return 0
        return len(self.node(parent).children)

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008
        """Return whether there are any, without making them."""
        return parent.column() <= 0 and self.node(parent).has_children

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return 2, or 3."""
        return len(self._headings)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a column's heading."""
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._headings[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return key or value as text, the node, or a tooltip with more of the value."""
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
        return plain_tooltip(preview(node.value, 1500) + ("\n\nDouble-click, or press Enter, to open it in full." if is_long else ""))


FILES = "files"


PINNED = "pinned"
"""The `lane` of the keys that somebody wants to see first, whatever their scope."""

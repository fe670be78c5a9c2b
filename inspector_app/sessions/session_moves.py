"""Inserts, moves and removes single sessions in the displayed tree."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable

from PySide6.QtCore import QAbstractItemModel, QModelIndex

from inspector_app.presentation.values import visible
from inspector_app.sessions.session_layout import PAGE, name_pages
from inspector_app.sessions.session_node import Summary, TreeNode
from inspector_app.sessions.session_order import matches
from inspector_app.sessions.session_tree_nodes import SessionTreeNodes

MOST_HELD = 2 * PAGE  # sessions or users of a page, or of a branch without pages, above which the tree is laid out again


class SessionMoves:
    """Keeps the displayed layout equal to a new one, except that pages grow and shrink.

    Args:
        model: the Qt model of the tree, which notifies its views of each row.
        nodes: the model's nodes.
        index_of: returns a node's index.
    """

    def __init__(self, model: QAbstractItemModel, nodes: SessionTreeNodes, index_of: Callable[[TreeNode], QModelIndex]) -> None:
        self._model = model
        self._nodes = nodes
        self._index = index_of

    def put(self, key: str, summary: Summary, before: Summary | None) -> bool:
        """Display a session at its place.

        Args:
            key: its database.
            summary: its summary.
            before: its previous summary; None for a new session.

        Returns:
            Whether a page or branch has too many children now.
        """
        if not matches(summary.key, self._nodes.layout.words):
            return False
        holder, row = self._nodes.find(key, before)
        holder = self._insert(key, summary) if holder is None else self._move(holder, row, summary)
        user = holder.parent if holder.kind == "page" else holder
        above = user.parent if user is not None else None
        return any(branch is not None and len(branch.children) > MOST_HELD for branch in (holder, above))

    def _insert(self, key: str, summary: Summary) -> TreeNode:
        session = summary.key
        top = self._nodes.database(key)
        assert top is not None
        user = self._branch(self._branch(top, "app", "cube", session.app_name), "user", "user", session.user_id)
        rank = self._nodes.layout.order.rank(summary)
        holder = self._nodes.holder(user, rank)
        place = bisect_left(holder.summaries, rank, key=self._nodes.layout.order.rank)
        self._model.beginInsertRows(self._index(holder), place, place)
        holder.summaries.insert(place, summary)
        holder.children.insert(place, None)
        holder.number(place)
        self._model.endInsertRows()
        self._nodes.layout.count += 1
        self._count(user)
        return holder

    def _move(self, holder: TreeNode, row: int, summary: Summary) -> TreeNode:
        """Replace a summary and move the session to its place; return its new parent node."""
        node, before = holder.children[row], holder.summaries[row]
        rank = self._nodes.layout.order.rank
        if holder.kind != "session" and rank(before) != rank(summary):  # forks below their parent stay in the order of creation
            user = holder.parent if holder.kind == "page" else holder
            assert user is not None
            holder = self._move_below(user, holder, row, summary)
        else:
            holder.summaries[row] = summary
        if node is not None:
            node.summary = summary
            self._nodes.dress(node)
            self._changed(node)
        return holder

    def _move_below(self, user: TreeNode, holder: TreeNode, row: int, summary: Summary) -> TreeNode:
        rank = self._nodes.layout.order.rank(summary)
        target = self._nodes.holder(user, rank)
        place = bisect_left(target.summaries, rank, key=self._nodes.layout.order.rank)
        if target is holder and place in (row, row + 1):
            holder.summaries[row] = summary
            return holder
        self._model.beginMoveRows(self._index(holder), row, row, self._index(target), place)
        if target is holder and place > row:
            place -= 1
        del holder.summaries[row]
        child = holder.children.pop(row)
        if child is not None:
            child.parent = target
        target.summaries.insert(place, summary)
        target.children.insert(place, child)
        holder.number()
        target.number()
        self._model.endMoveRows()
        if target is not holder:
            self._prune(holder)
            self._count(user)
        return target

    def remove(self, key: str, before: Summary | None) -> None:
        """Remove a session."""
        holder, row = self._nodes.find(key, before)
        if holder is None or before is None:
            return
        self.remove_row(holder, row)
        self._nodes.layout.count -= 1
        self._nodes.made.pop((key, before.key), None)
        user = self._nodes.layout.users[key, before.key.app_name, before.key.user_id]
        self._prune(holder)
        if user.children:
            self._count(user)

    def _prune(self, node: TreeNode) -> None:
        """Remove a node and the nodes above it as far as they are empty."""
        while node.parent is not None and node.kind not in ("database", "session") and not node.children:
            if node.kind == "user":
                del self._nodes.layout.users[node.database, node.path[1], node.path[2]]
            self.remove_row(node.parent, node.row)
            node = node.parent
        self._show_pages(node if node.kind != "page" else node.parent)

    def remove_row(self, parent: TreeNode, row: int) -> None:
        """Remove a node."""
        self._model.beginRemoveRows(self._index(parent), row, row)
        del parent.children[row]
        del parent.summaries[row : row + 1]
        parent.number(row)
        self._model.endRemoveRows()

    def _branch(self, parent: TreeNode, kind: str, icon: str, name: str) -> TreeNode:
        """Return the app or user with a name; insert it if there is none."""
        pages = parent.pages
        if pages:
            names = [page.branches[0].path[-1] for page in pages]
            parent = pages[max(bisect_right(names, name) - 1, 0)]
        branches = parent.branches
        row = bisect_left([branch.path[-1] for branch in branches], name)
        if row < len(branches) and branches[row].path[-1] == name:
            return branches[row]
        above = parent.parent if parent.kind == "page" and parent.parent is not None else parent
        made = TreeNode(kind, visible(name), "", icon, "dim", kind, parent.database, (*above.path, name))
        made.parent = parent
        self._model.beginInsertRows(self._index(parent), row, row)
        parent.children.insert(row, made)
        parent.number(row)
        self._model.endInsertRows()
        if kind == "user":
            self._nodes.layout.users[parent.database, made.path[1], name] = made
            self._show_pages(above)
        return made

    def _count(self, user: TreeNode) -> None:
        user.detail = f"{user.count:,}"
        self._changed(user)
        self._show_pages(user)

    def _show_pages(self, branch: TreeNode | None) -> None:
        """Update the names of an app's or user's pages."""
        pages = branch.pages if branch is not None else []
        if branch is not None and pages:
            name_pages(branch, self._nodes.layout.order)
            self._model.dataChanged.emit(self._index(pages[0]), self._index(pages[-1]))

    def _changed(self, node: TreeNode) -> None:
        index = self._index(node)
        self._model.dataChanged.emit(index, index)

"""Inserts, moves and removes single sessions in the displayed tree."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from PySide6.QtCore import QAbstractItemModel, QModelIndex

from inspector_app.sessions.session_layout import PAGE, name_pages
from inspector_app.sessions.session_node import Summary, TreeNode
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
            Whether the tree must be laid out again: it needs another heading, or a page or branch has too many children now.
        """
        session = summary.key
        if not self._nodes.databases[key].passes(summary, self._nodes.layout.wanted):
            return False
        holder, row = self._nodes.find(key, before)
        if holder is not None:
            holder = self._move(holder, row, summary)
        elif (user := self._nodes.layout.users.get((key, session.app_name, session.user_id))) is not None:
            holder = self._insert(user, summary)
        else:
            return True
        return len(holder.children) > MOST_HELD

    def _insert(self, user: TreeNode, summary: Summary) -> TreeNode:
        rank = self._nodes.layout.rank(summary)
        holder = self._nodes.holder(user, rank)
        place = bisect_left(holder.summaries, rank, key=self._nodes.layout.rank)
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
        rank = self._nodes.layout.rank
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
        rank = self._nodes.layout.rank(summary)
        target = self._nodes.holder(user, rank)
        place = bisect_left(target.summaries, rank, key=self._nodes.layout.rank)
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

    def remove(self, key: str, before: Summary | None) -> bool:
        """Remove a session; return whether the tree must be laid out again, without a heading that has no more sessions."""
        holder, row = self._nodes.find(key, before)
        if holder is None or before is None:
            return False
        self.remove_row(holder, row)
        self._nodes.layout.count -= 1
        self._nodes.made.pop((key, before.key), None)
        user = self._nodes.layout.users[key, before.key.app_name, before.key.user_id]
        self._prune(holder)
        self._count(user)
        return not user.children and user.kind != "database"

    def _prune(self, page: TreeNode) -> None:
        """Remove an empty page."""
        if page.kind == "page" and page.parent is not None and not page.children:
            self.remove_row(page.parent, page.row)

    def remove_row(self, parent: TreeNode, row: int) -> None:
        """Remove a node."""
        self._model.beginRemoveRows(self._index(parent), row, row)
        del parent.children[row]
        del parent.summaries[row : row + 1]
        parent.number(row)
        self._model.endRemoveRows()

    def _count(self, user: TreeNode) -> None:
        if user.kind != "database":  # the model counts all of its sessions
            user.detail = f"{user.count:,}"
            self._changed(user)
        self._show_pages(user)

    def _show_pages(self, branch: TreeNode | None) -> None:
        """Update the names of an app's or user's pages."""
        pages = branch.pages if branch is not None else []
        if branch is not None and pages:
            name_pages(branch, self._nodes.layout)
            self._model.dataChanged.emit(self._index(pages[0]), self._index(pages[-1]))

    def _changed(self, node: TreeNode) -> None:
        index = self._index(node)
        self._model.dataChanged.emit(index, index)

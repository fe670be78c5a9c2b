"""Puts sessions that come, change or go where they belong in the tree, one by one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from inspector_app.presentation.values import visible
from inspector_app.sessions.session_layout import PAGE, name_pages
from inspector_app.sessions.session_node import Summary, TreeNode
from inspector_app.sessions.session_order import matches
from inspector_app.sessions.session_tree_rows import SessionRows

MOST_HELD = 2 * PAGE
"""Sessions or users that a page, or a branch without pages, may have before the tree is laid out again."""


class MovingSessionRows(SessionRows):
    """Keeps a layout as a new one would have it, but for the pages: those grow and shrink."""

    def _put(self, key: str, summary: Summary, before: Summary | None) -> bool:
        """Show one session where it belongs.

        Args:
            key: its database.
            summary: what is known of it now.
            before: what was known of it; None for a new session.

        Returns:
            Whether there are too many in one place now.
        """
        if not matches(summary.key, self._laid.words):
            return False
        holder, row = self._find(key, before)
        holder = self._insert(key, summary) if holder is None else self._move(holder, row, summary)
        user = holder.parent if holder.kind == "page" else holder
        above = user.parent if user is not None else None
        return any(branch is not None and len(branch.children) > MOST_HELD for branch in (holder, above))

    def _insert(self, key: str, summary: Summary) -> TreeNode:
        session = summary.key
        top = next(database for database in self._laid.root.branches if database.database == key)
        user = self._branch(self._branch(top, "app", "cube", session.app_name), "user", "user", session.user_id)
        rank = self._laid.order.rank(summary)
        holder = self._holder(user, rank)
        place = bisect_left(holder.summaries, rank, key=self._laid.order.rank)
        self.beginInsertRows(self._index(holder), place, place)
        holder.summaries.insert(place, summary)
        holder.children.insert(place, None)
        holder.number(place)
        self.endInsertRows()
        self._laid.count += 1
        self._count(user)
        return holder

    def _move(self, holder: TreeNode, row: int, summary: Summary) -> TreeNode:
        """Put a newer summary in an older one's place, and that where it belongs; return what is right above it then."""
        node, before = holder.children[row], holder.summaries[row]
        rank = self._laid.order.rank
        if holder.kind != "session" and rank(before) != rank(summary):  # forks below their parent stay in the order they were made in
            user = holder.parent if holder.kind == "page" else holder
            assert user is not None
            holder = self._move_below(user, holder, row, summary)
        else:
            holder.summaries[row] = summary
        if node is not None:
            node.summary = summary
            self._dress(node)
            self._changed(node)
        return holder

    def _move_below(self, user: TreeNode, holder: TreeNode, row: int, summary: Summary) -> TreeNode:
        rank = self._laid.order.rank(summary)
        target = self._holder(user, rank)
        place = bisect_left(target.summaries, rank, key=self._laid.order.rank)
        if target is holder and place in (row, row + 1):
            holder.summaries[row] = summary
            return holder
        self.beginMoveRows(self._index(holder), row, row, self._index(target), place)
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
        self.endMoveRows()
        if target is not holder:
            self._prune(holder)
            self._count(user)
        return target

    def _take_out(self, key: str, before: Summary | None) -> None:
        """Show a session no more."""
        holder, row = self._find(key, before)
        if holder is None or before is None:
            return
        self._remove_row(holder, row)
        self._laid.count -= 1
        self._session_nodes.pop((key, before.key), None)
        user = self._laid.users[key, before.key.app_name, before.key.user_id]
        self._prune(holder)
        if user.children:
            self._count(user)

    def _prune(self, node: TreeNode) -> None:
        """Take away a page, user and app that have nothing any more."""
        while node.parent is not None and node.kind not in ("database", "session") and not node.children:
            if node.kind == "user":
                del self._laid.users[node.database, node.path[1], node.path[2]]
            self._remove_row(node.parent, node.row)
            node = node.parent
        self._show_pages(node if node.kind != "page" else node.parent)

    def _remove_row(self, parent: TreeNode, row: int) -> None:
        self.beginRemoveRows(self._index(parent), row, row)
        del parent.children[row]
        del parent.summaries[row : row + 1]
        parent.number(row)
        self.endRemoveRows()

    def _branch(self, parent: TreeNode, kind: str, icon: str, name: str) -> TreeNode:
        """Return the app or user of that name, made where it belongs if it is not there."""
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
        self.beginInsertRows(self._index(parent), row, row)
        parent.children.insert(row, made)
        parent.number(row)
        self.endInsertRows()
        if kind == "user":
            self._laid.users[parent.database, made.path[1], name] = made
            self._show_pages(above)
        return made

    def _count(self, user: TreeNode) -> None:
        user.detail = f"{user.count:,}"
        self._changed(user)
        self._show_pages(user)

    def _show_pages(self, branch: TreeNode | None) -> None:
        """Say anew what is on the pages of an app or user, if it has any."""
        pages = branch.pages if branch is not None else []
        if branch is not None and pages:
            name_pages(branch, self._laid.order)
            self.dataChanged.emit(self._index(pages[0]), self._index(pages[-1]))

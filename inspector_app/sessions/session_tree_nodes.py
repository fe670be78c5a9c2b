"""The nodes of the session tree. A session's node is made when a view first asks for it. No Qt."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

from inspector_app.presentation.signs import NO_SIGN
from inspector_app.presentation.values import ago, counted, full_time, visible
from inspector_app.sessions.session_layout import Database, Layout
from inspector_app.sessions.session_node import MARKS, Summary, TreeNode, state_words
from inspector_app.sessions.session_order import NEWEST_FIRST, ORDERS
from runtime.sessions.session_key import SessionKey

READING = "reading…"  # in place of a title that is not known yet


class SessionTreeNodes:
    """The displayed layout of the open databases, and the nodes in it.

    Args:
        now: returns the present time in epoch seconds; last updates are displayed relative to it.
        want: called with the database and the session of a displayed title that is not known.

    Attributes:
        databases: the open databases by key.
        layout: the displayed layout.
        made: the sessions' nodes made so far.
    """

    def __init__(self, now: Callable[[], float], want: Callable[[str, SessionKey], object] = lambda *_: None) -> None:
        self._now = now
        self._want = want
        self.databases: dict[str, Database] = {}
        self.layout = Layout(ORDERS[NEWEST_FIRST])
        self.made: dict[tuple[str, SessionKey], TreeNode] = {}

    def replace(self, layout: Layout) -> None:
        """Display another layout."""
        self.layout, self.made = layout, {}

    def forget_database(self, key: str) -> None:
        """Forget the nodes of a database that is closed."""
        self.layout.sessions.pop(key)
        self.made = {place: node for place, node in self.made.items() if place[0] != key}

    def database(self, key: str) -> TreeNode | None:
        """Return a database's node."""
        return next((node for node in self.layout.root.branches if node.database == key), None)

    def session(self, key: str, session: SessionKey) -> TreeNode | None:
        """Return a session's node, None if it does not exist or the filter hides it."""
        node = self.made.get((key, session))
        if node is None:
            holder, row = self.find(key, self.layout.sessions.get(key, {}).get(session))
            node = self.child(holder, row) if holder is not None else None
        return node

    def find(self, key: str, summary: Summary | None) -> tuple[TreeNode | None, int]:
        """Return the node above a session and the session's row in it, None and -1 if it is not displayed."""
        if summary is None:
            return None, -1
        layout = self.layout
        parent = layout.parents.get((key, summary.key))
        if parent is not None:
            above = self.session(key, parent)
            return above, [fork.key for fork in above.summaries].index(summary.key) if above is not None else -1
        user = layout.users.get((key, summary.key.app_name, summary.key.user_id))
        if user is None or (layout.order.figure and summary not in layout.figures):  # it did not pass the filter
            return None, -1
        rank = layout.rank(summary)
        holder = self.holder(user, rank)
        row = bisect_left(holder.summaries, rank, key=layout.rank)
        is_there = row < len(holder.summaries) and holder.summaries[row].key == summary.key
        return (holder, row) if is_there else (None, -1)

    def holder(self, user: TreeNode, rank: Any) -> TreeNode:
        """Return the page for a session of a rank; the user, if it has no pages."""
        pages = user.pages
        if not pages:
            return user
        return pages[max(bisect_right(pages, rank, key=lambda page: self.layout.rank(page.summaries[0])) - 1, 0)]

    def child(self, parent: TreeNode, row: int) -> TreeNode:
        """Return the node in a row below another node; make a session's node if needed."""
        child = parent.children[row]
        if child is None:
            summary = parent.summaries[row]
            session = summary.key
            path = (parent.database, *session)
            child = TreeNode("session", "", "", *NO_SIGN, parent.database, path, row=row, session=session, summary=summary)
            child.parent = parent
            child.hold(self.layout.forks.get((parent.database, session), []))
            self.dress(child)
            parent.children[row] = child
            self.made[parent.database, session] = child
        return child

    def dress(self, node: TreeNode) -> None:
        """Set the title, sign and second line of a session's node."""
        assert node.session is not None and node.summary is not None
        database, session = self.databases[node.database], node.session
        mark = database.marks.get(session, "")
        node.icon, node.role, meaning = MARKS.get(mark, NO_SIGN)
        node.meaning = ", ".join(filter(None, (meaning, database.earlier.get(session, ""))))
        title, fork, count = database.titles.get(session, ""), database.forks.get(session), node.summary.event_count
        if not title:
            self._want(node.database, session)
        node.name = title or READING
        change = fork.text if fork is not None and fork.text not in title else ""
        events = counted(count, "event") if count is not None else ""
        state = state_words(mark, database.waits.get(session, (0, ""))[1])
        node.pieces = state, change, events, database.costs.get(session, ""), ago(node.summary.last_update_time, self._now())
        node.detail = " · ".join(filter(None, node.pieces))

    def tooltip(self, node: TreeNode) -> str:
        """Return everything known about a node."""
        database = self.databases[node.database]
        if node.kind == "database":
            return f"{database.info.tooltip or database.info.title}\n{node.meaning}"
        if node.kind == "page":
            return f"{node.meaning} {node.name}, from {node.detail}"
        if node.summary is None:
            return f"{node.kind} {node.name}"
        summary = node.summary
        events = counted(summary.event_count, "event") if summary.event_count is not None else "events are being counted"
        updated = f"{events}, last update {full_time(summary.last_update_time)}"
        fork = database.forks.get(summary.key)
        key = SessionKey(*map(visible, summary.key))
        title = database.titles.get(summary.key, "")
        names = f"session {key.session_id}\napp {key.app_name}, user {key.user_id}"
        lines = [title, names, updated, node.meaning, fork.tooltip if fork is not None else ""]
        return "\n".join(filter(None, lines))

"""Lays out the session tree (databases → apps → users → sessions) in short steps, between which the window stays responsive."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from inspector_app.presentation.session_figures import ORDERS as FIGURE_ORDERS
from inspector_app.presentation.session_figures import EventFigures, SessionFigures, session_figures
from inspector_app.presentation.session_info import DatabaseInfo, ForkInfo
from inspector_app.presentation.values import counted, size, visible
from inspector_app.sessions.session_node import Summary, TreeNode
from inspector_app.sessions.session_order import STEP, Order, SessionFilter, in_order, matches
from runtime.expressions import ExpressionTooCostlyError
from runtime.sessions.session_key import SessionKey

PAGE = 500  # sessions or users on a page: after each change a view visits every row of its open branches


@dataclass(frozen=True, slots=True)
class News:
    """Changes of a database's sessions that are not in the tree yet.

    Attributes:
        changed: summaries of new and changed sessions.
        removed: deleted sessions.
        all: whether `changed` lists all sessions and replaces the earlier ones.
    """

    changed: Sequence[Summary]
    removed: Sequence[SessionKey] = ()
    all: bool = False


@dataclass(slots=True)
class Database:
    """An open database.

    Attributes:
        info: the data displayed for the database.
        sessions: the sessions of the present layout, filtered ones included.
        news: changes that the next layout applies to `sessions`.
        marks: session → mark; see `MARKS`.
        titles: session → title, as far as they are known; the owner adds to it.
        waits: session → how many items wait for a person, and the name of the last one.
        figures: session → the figures of its events, as far as they are known; the owner adds to it.
        costs: session → what its model calls cost, as text; as far as that is known.
        earlier: session → what its earlier messages still wait for.
        forks: session → its origin.
    """

    info: DatabaseInfo
    sessions: dict[SessionKey, Summary] = field(default_factory=dict)
    news: list[News] = field(default_factory=list)
    marks: dict[SessionKey, str] = field(default_factory=dict)
    titles: Mapping[SessionKey, str] = field(default_factory=dict)
    waits: dict[SessionKey, tuple[int, str]] = field(default_factory=dict)
    figures: Mapping[SessionKey, EventFigures] = field(default_factory=dict)
    costs: dict[SessionKey, str] = field(default_factory=dict)
    earlier: dict[SessionKey, str] = field(default_factory=dict)
    forks: dict[SessionKey, ForkInfo] = field(default_factory=dict)

    @property
    def beside(self) -> str:
        """The text beside its name."""
        takes_up = size(self.info.bytes) if self.info.bytes else ""
        return " · ".join(filter(None, (counted(len(self.sessions), "session"), takes_up, visible(self.info.badge))))

    def passes(self, summary: Summary, wanted: SessionFilter) -> bool:
        """Return whether a session passes a filter; a condition that takes too long does not hold."""
        if wanted.condition is None:
            return matches(summary.key, self.titles.get(summary.key, ""), wanted.words)
        try:
            return wanted.condition.matches(self.all_figures(summary, wanted.now))
        except ExpressionTooCostlyError:
            return False

    def all_figures(self, summary: Summary, now: float) -> SessionFigures:
        """Return what is known of a session at a time, epoch seconds."""
        key = summary.key
        waiting, read = self.waits.get(key, (0, ""))[0], self.figures.get(key)
        return session_figures(self.titles.get(key, ""), summary.event_count, summary.last_update_time, waiting, read, now)


@dataclass(slots=True)
class Layout:
    """A tree, and indexes of its nodes and sessions.

    Attributes:
        order: the order of each user's sessions.
        wanted: the filter.
        figures: session → its figures when the tree was laid out, if the order needs them.
        root: the node above the databases.
        users: database, app and user → the node above the user's sessions: the user's; the app's or the database's if it has one user.
        sessions: database → its sessions, with the news applied.
        parents: fork → its parent, if the fork is displayed below it.
        forks: parent → the forks below it, the oldest first.
        count: number of sessions in the tree.
    """

    order: Order
    wanted: SessionFilter = field(default_factory=SessionFilter)
    figures: dict[Summary, SessionFigures] = field(default_factory=dict)
    root: TreeNode = field(default_factory=lambda: TreeNode("root", "", "", "", "", "", "", ()))
    users: dict[tuple[str, str, str], TreeNode] = field(default_factory=dict)
    sessions: dict[str, dict[SessionKey, Summary]] = field(default_factory=dict)
    parents: dict[tuple[str, SessionKey], SessionKey] = field(default_factory=dict)
    forks: dict[tuple[str, SessionKey], list[Summary]] = field(default_factory=dict)
    count: int = 0

    def rank(self, summary: Summary) -> Any:
        """Return a session's sort key."""
        if self.order.rank is not None:
            return self.order.rank(summary)
        return FIGURE_ORDERS[self.order.figure](self.figures[summary]), -summary.last_update_time, summary.key.session_id

    def told(self, summary: Summary) -> str:
        """Return the text about a page's first session."""
        return self.order.told(summary) if self.order.told is not None else self.figures[summary].told(self.order.figure)


def lay_out(databases: Mapping[str, Database], wanted: SessionFilter, order: Order) -> Generator[None, None, Layout]:
    """Lay out the tree of some databases; yield every few milliseconds, and return the tree.

    Args:
        databases: the databases in their order. They must not change meanwhile.
        wanted: only sessions that pass it are in the tree.
        order: the order of each user's sessions.
    """
    laid = Layout(order, wanted)
    for key, database in databases.items():
        laid.sessions[key] = yield from _taken_in(database)
        _nest_forks(laid, key, database)
        top = laid.root.add(_database_node(key, database))
        apps = yield from _by_app_and_user(laid, key, database)
        for app_name, users in sorted(apps.items()):
            node = TreeNode("app", visible(app_name), "", "cube", "dim", "app", key, (key, app_name))
            yield from _add_users(laid, top.add(node) if len(apps) > 1 else top, app_name, users)
        laid.count += sum(place[0] == key for place in laid.parents)
    return laid


def name_pages(branch: TreeNode, laid: Layout) -> None:
    """Name the pages of an app or a user by the users or sessions on them."""
    first = 1
    for page in branch.pages:
        last = first + len(page.children) - 1
        begin = page.children[0]
        page.name, page.detail = f"{first:,}–{last:,}", laid.told(page.summaries[0]) if page.summaries else begin.name if begin else ""
        first = last + 1


def _taken_in(database: Database) -> Generator[None, None, dict[SessionKey, Summary]]:
    sessions = dict(database.sessions) if database.news else database.sessions
    for news in database.news:
        if news.all:
            sessions = {}
        for place, summary in enumerate(news.changed, 1):
            sessions[summary.key] = summary
            if place % STEP == 0:
                yield
        for session in news.removed:
            sessions.pop(session, None)
    return sessions


def _nest_forks(laid: Layout, key: str, database: Database) -> None:
    """Record which forks are displayed below their parent: those whose parent is displayed too, except in a circle of forks."""
    sessions = laid.sessions[key]
    for session, fork in database.forks.items():
        if all(each in sessions and database.passes(sessions[each], laid.wanted) for each in (session, fork.parent)):
            laid.parents[key, session] = fork.parent
            if _is_own_parent(laid, key, session):
                del laid.parents[key, session]
            else:
                laid.forks.setdefault((key, fork.parent), []).append(sessions[session])


def _is_own_parent(laid: Layout, key: str, session: SessionKey) -> bool:
    above: SessionKey | None = laid.parents.get((key, session))
    while above is not None and above != session:
        above = laid.parents.get((key, above))
    return above is not None


def _database_node(key: str, database: Database) -> TreeNode:
    read_only = database.info.read_only
    icon, role, meaning = ("lock", "dim", "read-only") if read_only else ("database", "accent", "can be written to")
    return TreeNode("database", visible(database.info.title), database.beside, icon, role, meaning, key, (key,))


def _by_app_and_user(laid: Layout, key: str, database: Database) -> Generator[None, None, dict[str, dict[str, list[Summary]]]]:
    apps: dict[str, dict[str, list[Summary]]] = {}
    for place, (session, summary) in enumerate(laid.sessions[key].items(), 1):
        if (key, session) not in laid.parents and database.passes(summary, laid.wanted):
            if laid.order.figure:
                laid.figures[summary] = database.all_figures(summary, laid.wanted.now)
            apps.setdefault(session.app_name, {}).setdefault(session.user_id, []).append(summary)
        if place % STEP == 0:
            yield
    return apps


def _add_users(laid: Layout, app: TreeNode, app_name: str, users: Mapping[str, list[Summary]]) -> Generator[None, None, None]:
    """Add users below their app, on pages if there are many, and their sessions below them. The only user is not displayed."""
    key = app.database
    if len(users) == 1:
        ((user_id, found),) = users.items()
        _hold(app, (yield from in_order(found, laid.rank)), laid)
        app.detail = app.detail or f"{len(found):,}"
        laid.users[key, app_name, user_id] = app
        laid.count += len(found)
        return
    looked_at = 0
    holder = app
    for number, (user_id, found) in enumerate((yield from in_order(list(users.items()), itemgetter(0)))):
        if len(users) > PAGE and number % PAGE == 0:
            holder = app.add(_page(app, "users", number))
        user = holder.add(TreeNode("user", visible(user_id), f"{len(found):,}", "user", "dim", "user", key, (key, app_name, user_id)))
        _hold(user, (yield from in_order(found, laid.rank)), laid)
        laid.users[key, app_name, user_id] = user
        laid.count += len(found)
        if (looked_at := looked_at + len(found)) > STEP:
            looked_at = 0
            yield
    name_pages(app, laid)


def _hold(user: TreeNode, summaries: list[Summary], laid: Layout) -> None:
    """Add sessions below their user, on pages if there are many."""
    if len(summaries) <= PAGE:
        user.hold(summaries)
        return
    for first in range(0, len(summaries), PAGE):
        user.add(_page(user, "sessions", first)).hold(summaries[first : first + PAGE])
    name_pages(user, laid)


def _page(branch: TreeNode, what: str, first: int) -> TreeNode:
    return TreeNode("page", "", "", "layer-group", "dim", what, branch.database, (*branch.path, f"page {first // PAGE}"))

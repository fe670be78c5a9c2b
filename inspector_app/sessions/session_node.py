"""The nodes of the session tree and how each is displayed. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol
from weakref import ref

from inspector_app.presentation.signs import REQUESTS, SIGNS, Sign
from inspector_app.presentation.values import visible
from runtime.sessions.session_key import SessionKey

MARKS: dict[str, Sign] = SIGNS | REQUESTS


def state_words(mark: str, waits_for: str) -> str:
    """Return a session's state in a few words, empty if it is not known.

    Args:
        mark: see `MARKS`.
        waits_for: name of the call that waits for an answer; empty if none does.
    """
    words = "waiting" if mark in REQUESTS else mark
    return f"{words}: {visible(waits_for)}" if words == "waiting" and waits_for else words


class Summary(Protocol):
    """A session's summary, known without reading its events."""

    @property
    def key(self) -> SessionKey: ...  # noqa: D102
    @property
    def event_count(self) -> int | None: ...  # noqa: D102
    @property
    def last_update_time(self) -> float: ...  # noqa: D102


@dataclass(slots=True, weakref_slot=True, eq=False)
class TreeNode:
    """A database, app, user, page or session.

    Attributes:
        kind: `database`, `app`, `user`, `session` or `page`. A page has some users of an app, or some sessions of a user, that has many.
        name: the displayed name, with control characters made visible; a session's title.
        detail: the badge or count, or a session's second line.
        pieces: the pieces of a session's second line: state, change of a fork, events, cost, age; some are empty.
        icon: Font Awesome name.
        role: colour role of the icon.
        meaning: the icon's meaning as text.
        database: key of its database.
        path: names from the database down; identifies the node.
        row: its row below its parent.
        session: the session, for a session's node.
        summary: its summary.
        children: the nodes below; None for a session's node that no view has requested yet.
        summaries: summaries of the sessions directly below a user, a page or a session (its forks), in order.
    """

    kind: str
    name: str
    detail: str
    icon: str
    role: str
    meaning: str
    database: str
    path: tuple[str, ...]
    pieces: tuple[str, ...] = ()
    row: int = 0
    session: SessionKey | None = None
    summary: Summary | None = None
    children: list[TreeNode | None] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    _above: ref[TreeNode] | None = None

    @property
    def parent(self) -> TreeNode | None:
        """The node above. The reference is weak, so that a replaced tree is freed at once and not by a full garbage collection."""
        return self._above() if self._above is not None else None

    @parent.setter
    def parent(self, node: TreeNode) -> None:
        self._above = ref(node)

    @property
    def branches(self) -> list[TreeNode]:
        """The children that are not sessions."""
        return [child for child in self.children if child is not None and child.kind != "session"]

    @property
    def pages(self) -> list[TreeNode]:
        """The pages of an app or user; empty if it has none."""
        first = self.children[0] if self.children else None
        return self.branches if first is not None and first.kind == "page" else []

    @property
    def holds_sessions(self) -> bool:
        """Whether sessions are directly below, or on its pages."""
        return bool(self.summaries) or any(page.summaries for page in self.pages[:1])

    @property
    def count(self) -> int:
        """Number of a user's sessions, without forks below other sessions."""
        return len(self.summaries) + sum(len(page.summaries) for page in self.pages)

    def add(self, child: TreeNode) -> TreeNode:
        """Append a child."""
        child.parent, child.row = self, len(self.children)
        self.children.append(child)
        return child

    def hold(self, summaries: list[Summary]) -> None:
        """Set the sessions below; their nodes are made when a view requests them."""
        self.summaries, self.children = summaries, [None] * len(summaries)

    def number(self, first: int = 0) -> None:
        """Number the children again, from row `first` on."""
        for row, child in enumerate(self.children[first:], first):
            if child is not None:
                child.row = row

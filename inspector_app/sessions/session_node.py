"""What stands in the list of sessions: a database, app, user, page or session, and how each is shown. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol
from weakref import ref

from runtime.sessions.session import SessionKey

MARKS: dict[str, tuple[str, str, str]] = {
    "running": ("circle-play", "accent", "running now"),
    "paused": ("circle-pause", "warn", "paused"),
    "interrupted": ("triangle-exclamation", "bad", "interrupted: an invocation did not end; it can be resumed"),
    "confirmation": ("hand", "warn", "waits for a confirmation"),
    "long_running": ("hourglass-half", "accent", "waits for the answer of a long-running call"),
    "credential": ("key", "warn", "waits for a credential"),
    "finished": ("circle-check", "ok", "finished"),
}
"""Mark → icon, colour role, and what it means."""

NO_MARK: tuple[str, str, str] = ("message", "dim", "")


class Summary(Protocol):
    """What is known of a session without reading its events."""

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
        kind: `database`, `app`, `user`, `session`, or `page`: some of the users of an app, or of the sessions of a user, that has many.
        name: as shown, control characters written out.
        detail: what is secondary: badge, count or last update.
        aside: of a fork: its short id where it is called by what was changed, else what was changed.
        icon, role: Font Awesome name and colour role.
        meaning: what the icon says, in words.
        database: key of the database it belongs to.
        path: names from the database down, for telling nodes apart.
        session, summary: of sessions: which one, and what is known of it.
        children: what stands below; None stands for a session's node that no view has asked for yet.
        summaries: of the sessions below, in their order: a user's or a page's, or the forks of a session.
    """

    kind: str
    name: str
    detail: str
    icon: str
    role: str
    meaning: str
    database: str
    path: tuple[str, ...]
    aside: str = ""
    row: int = 0
    session: SessionKey | None = None
    summary: Summary | None = None
    children: list[TreeNode | None] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    _above: ref[TreeNode] | None = None

    @property
    def parent(self) -> TreeNode | None:
        """The node above; not held from below: a tree that is replaced shall go at once, not with a full garbage collection."""
        return self._above() if self._above is not None else None

    @parent.setter
    def parent(self, node: TreeNode) -> None:
        self._above = ref(node)

    @property
    def branches(self) -> list[TreeNode]:
        """The children that are no sessions."""
        return [child for child in self.children if child is not None and child.kind != "session"]

    @property
    def pages(self) -> list[TreeNode]:
        """The pages of an app or user that has many users or sessions; of others none."""
        first = self.children[0] if self.children else None
        return self.branches if first is not None and first.kind == "page" else []

    @property
    def count(self) -> int:
        """How many sessions of a user stand below, forks below other sessions not counted."""
        return len(self.summaries) + sum(len(page.summaries) for page in self.pages)

    def add(self, child: TreeNode) -> TreeNode:
        """Put a child at the end."""
        child.parent, child.row = self, len(self.children)
        self.children.append(child)
        return child

    def hold(self, summaries: list[Summary]) -> None:
        """Put sessions below it; their nodes are made when somebody asks for them."""
        self.summaries, self.children = summaries, [None] * len(summaries)

    def number(self, first: int = 0) -> None:
        """Tell the children their rows, from a row on."""
        for row, child in enumerate(self.children[first:], first):
            if child is not None:
                child.row = row

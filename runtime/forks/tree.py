"""Which sessions were made of which: forks of forks as trees. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runtime.sessions.lineage import Lineage
from runtime.sessions.session import SessionKey


@dataclass(frozen=True, slots=True)
class ForkNode:
    """A session in a fork tree.

    Attributes:
        key: the session.
        database: which other database it is in; None: the one that was read.
        lineage: where it comes from; None for one that is not a fork.
        exists: whether it is there; of another database's that is not looked up.
        children: what was forked from it, the oldest fork first.
    """

    key: SessionKey
    database: str | None
    lineage: Lineage | None
    exists: bool
    children: tuple[ForkNode, ...] = ()


def fork_trees(sessions: Iterable[SessionKey], lineages: Mapping[SessionKey, Lineage]) -> list[ForkNode]:
    """Return a database's fork trees, by their roots; sessions that neither are nor have forks are left out.

    A parent that was deleted, or is in another database, is a root without a lineage.

    Args:
        sessions: all of the database.
        lineages: of its forks.
    """
    existing = set(sessions)
    children: dict[tuple[str | None, SessionKey], list[SessionKey]] = {}
    for key, lineage in sorted(lineages.items(), key=lambda item: (item[1].at, item[0])):
        children.setdefault((lineage.database, lineage.parent), []).append(key)
    reached: set[SessionKey] = set()

    def node(database: str | None, key: SessionKey) -> ForkNode:
        if database is None:
            reached.add(key)
        below = tuple(node(None, child) for child in children.get((database, key), ()) if child not in reached)
        lineage = lineages.get(key) if database is None else None
        return ForkNode(key, database, lineage, database is not None or key in existing, below)

    roots = [place for place in children if place[0] is not None or place[1] not in lineages]
    trees = [node(*place) for place in roots]
    # A deleted session whose name a descendant of it got: no root leads there.
    return trees + [node(None, key) for key in lineages if key not in reached]

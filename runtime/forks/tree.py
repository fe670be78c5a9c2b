"""Fork trees: which sessions were forked from which. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from runtime.sessions.lineage import Lineage
from runtime.sessions.session_key import SessionKey


@dataclass(frozen=True, slots=True)
class ForkNode:
    """A session in a fork tree.

    Attributes:
        key: the session.
        database: the other database that it is in; None: the database that was read.
        lineage: its origin; None for a session that is not a fork.
        exists: whether the session exists; assumed for another database.
        children: the forks of it, oldest first.
    """

    key: SessionKey
    database: str | None
    lineage: Lineage | None
    exists: bool
    children: tuple[ForkNode, ...] = ()


def fork_trees(sessions: Iterable[SessionKey], lineages: Mapping[SessionKey, Lineage]) -> list[ForkNode]:
    """Return a database's fork trees. Sessions that neither are forks nor have any are left out.

    A parent that was deleted, or is in another database, is a root without a lineage.
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
    # A deleted session whose id one of its descendants was given: no root leads there.
    return trees + [node(None, key) for key in lineages if key not in reached]

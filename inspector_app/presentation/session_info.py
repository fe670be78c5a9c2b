"""What the session list displays of a database and of a fork."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.sessions.session_key import SessionKey


@dataclass(frozen=True, slots=True)
class DatabaseInfo:
    """A database as displayed.

    Attributes:
        title: the database's name, such as `orders.db`.
        badge: layout and access, such as `v1 · live`.
        read_only: whether it cannot be written to at present.
        tooltip: the full path and layout.
        bytes: the size of its file; 0 if it is not one.
    """

    title: str
    badge: str = ""
    read_only: bool = False
    tooltip: str = ""
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class ForkInfo:
    """The origin of a fork as displayed.

    Attributes:
        parent: the session it was forked from; it may be in another database, or deleted.
        text: the change and its place in a few words.
        tooltip: all details.
        told: what follows the parent's title in a sentence about the fork.
        database: the parent's database; None: the same as the fork's.
    """

    parent: SessionKey
    text: str
    tooltip: str
    told: str = ""
    database: str | None = None

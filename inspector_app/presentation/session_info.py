"""What the session list shows of a database and of a fork."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.sessions.session import SessionKey


@dataclass(frozen=True, slots=True)
class DatabaseInfo:
    """How a database is shown.

    Attributes:
        title: its name, such as `orders.db`.
        badge: layout and manner, such as `v1 · live`.
        read_only: whether nothing can be written to it now.
        tooltip: path and layout in full.
    """

    title: str
    badge: str = ""
    read_only: bool = False
    tooltip: str = ""


@dataclass(frozen=True, slots=True)
class ForkInfo:
    """Where a session was forked from, as it is shown.

    Attributes:
        parent: the session; it may be in another database, or gone.
        text: what was changed and where, a few words.
        tooltip: all that is known.
        sentence: the same as text, whole.
        database: which one the parent is in; None: the fork's own.
    """

    parent: SessionKey
    text: str
    tooltip: str
    sentence: str = ""
    database: str | None = None

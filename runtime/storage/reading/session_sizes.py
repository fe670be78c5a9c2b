"""The space that sessions take in a database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from runtime.sessions.session_key import SessionKey
from runtime.storage.layouts.detect import Layout
from runtime.storage.layouts.statements import quoted_name
from runtime.storage.layouts.table_names import OF_SESSION
from runtime.storage.reading.event_rows import ReadingConnection

MOST_MEASURED = 100  # events of a session; the size of a longer one is extrapolated, because measuring all events means reading them


@dataclass(frozen=True, slots=True)
class SessionSize:
    """The size of a session's events.

    Attributes:
        bytes: total size of their columns.
        is_exact: whether all events were measured.
    """

    bytes: int
    is_exact: bool


def session_sizes(
    connection: ReadingConnection, layout: Layout, counts: Iterable[tuple[SessionKey, int]], *, on_server: bool
) -> dict[SessionKey, SessionSize]:
    """Return the sizes of some sessions.

    Args:
        connection: a connection in a transaction.
        layout: the database's layout.
        counts: the sessions, with their numbers of events.
        on_server: whether the database is PostgreSQL.
    """
    length = "octet_length(CAST({} AS text))" if on_server else "length(CAST({} AS BLOB))"
    row = " + ".join(f"coalesce({length.format(quoted_name(name))}, 0)" for name in sorted(layout.event_columns))
    query = f"SELECT count(*), sum(bytes) FROM (SELECT {row} AS bytes FROM events WHERE {OF_SESSION} LIMIT ?) AS measured"
    found = {}
    for key, count in counts:
        measured, size = connection.execute(query, (*key, MOST_MEASURED + 1)).fetchone()
        is_exact = measured <= MOST_MEASURED
        whole = int(size or 0) if is_exact else round(int(size) / measured * max(count, measured))
        found[key] = SessionSize(whole, is_exact)
    return found

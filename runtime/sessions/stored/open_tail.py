"""A tail for whatever database there is."""

from __future__ import annotations

from collections.abc import Iterable

from runtime.errors.storage_error import StorageError
from runtime.sessions.database_url import database_url, file_of, plain_file
from runtime.sessions.stored.file_tail import FileTail
from runtime.sessions.stored.reader import SessionSummary
from runtime.sessions.stored.server_tail import ServerTail
from runtime.sessions.stored.tail import Tail


def open_tail(target: str, known: Iterable[SessionSummary] = ()) -> Tail:
    """Return what looks at a database; nothing is opened yet.

    Args:
        target: a file path or an SQLAlchemy URL.
        known: the sessions as they were listed last.

    Raises:
        StorageError: it is a database that we do not serve.
    """
    plain = plain_file(target)
    if plain is not None:
        return FileTail(plain, known)
    url = database_url(target)
    if url.get_backend_name() != "sqlite":
        return ServerTail(url, known)
    file = file_of(url)
    if file is None:
        raise StorageError("A database in memory cannot be watched.")
    return FileTail(file, known)

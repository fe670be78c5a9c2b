"""A tail for whatever database there is."""

from __future__ import annotations

from collections.abc import Iterable

from runtime.errors.storage_error import StorageError
from runtime.storage.connections.database_url import database_url, named_file
from runtime.storage.reading.reader import SessionSummary
from runtime.storage.tail.file_tail import FileTail
from runtime.storage.tail.server_tail import ServerTail
from runtime.storage.tail.tail import Tail


def open_tail(target: str, known: Iterable[SessionSummary] = ()) -> Tail:
    """Return what looks at a database; nothing is opened yet.

    Args:
        target: a file path or an SQLAlchemy URL.
        known: the sessions as they were listed last.

    Raises:
        StorageError: it is a database that we do not serve.
    """
    file = named_file(target)
    if file is not None:
        return FileTail(file, known)
    url = database_url(target)
    if url.get_backend_name() == "sqlite":
        raise StorageError("A database in memory cannot be watched.")
    return ServerTail(url, known)

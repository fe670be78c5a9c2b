"""A tail for a file or a server's database."""

from __future__ import annotations

from collections.abc import Iterable

from runtime.errors.storage_error import StorageError
from runtime.storage.connections.database_url import database_url, named_file
from runtime.storage.layouts.json_formats import LANGGRAPH
from runtime.storage.reading.reader import SessionSummary
from runtime.storage.tail.checkpoint_tail import CheckpointTail
from runtime.storage.tail.file_tail import FileTail
from runtime.storage.tail.server_tail import ServerTail
from runtime.storage.tail.tail import Tail


def open_tail(target: str, known: Iterable[SessionSummary] = (), *, layout: str = "v1") -> Tail:
    """Return a tail of a database. This call does not open the database.

    Args:
        target: a file path or an SQLAlchemy URL.
        known: the sessions of the last listing.
        layout: the kind of the layout.

    Raises:
        StorageError: the database is not supported.
    """
    file = named_file(target)
    if file is not None:
        return FileTail(file, known)
    url = database_url(target)
    if url.get_backend_name() == "sqlite":
        raise StorageError("A database in memory cannot be watched.")
    return CheckpointTail(url, target, known) if layout == LANGGRAPH.kind else ServerTail(url, known)

"""A file of OpenTelemetry's traces as a database that is deleted afterwards."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from inspector_app.exchange.imported_sessions import Imported
from inspector_app.exchange.otlp_sessions.trace_reading import read_trace_file
from inspector_app.exchange.storing import store
from runtime.storage.open_service import open_session_service

DATABASE = "trace.db"


def unpack_traces(path: str, folder: Path) -> tuple[Path, str]:
    """Write the sessions of a file of traces into a new database, and return it and what was not used.

    Args:
        path: the file of traces.
        folder: an existing folder.

    Raises:
        TraceFileError: see `read_trace_file`.
    """
    found = read_trace_file(path)
    database = folder / DATABASE
    asyncio.run(_store(database, Imported(found.sessions)))
    return database, found.left_out


@contextmanager
def unpacked_traces(path: str) -> Iterator[tuple[str, str]]:
    """Yield what `unpack_traces` returns, in a private folder that is deleted at the end."""
    folder = Path(tempfile.mkdtemp(prefix="traces-"))
    try:
        database, left_out = unpack_traces(path, folder)
        yield str(database), left_out
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _store(database: Path, imported: Imported) -> None:
    async with open_session_service(str(database)) as service:
        await store(service, imported)

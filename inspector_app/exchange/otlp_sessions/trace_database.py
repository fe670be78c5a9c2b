"""A file of OpenTelemetry's traces as a database that is deleted afterwards."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from inspector_app.engines.recorder_file import finish_recording
from inspector_app.exchange.imported_sessions import Imported
from inspector_app.exchange.otlp_sessions.trace_reading import read_trace_file
from inspector_app.exchange.storing import store
from runtime.storage.open_service import open_session_service
from runtime.storage.recordings.recording import recording_beside
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from inspector_app.exchange.otlp_sessions import trace_recording
else:  # loads google-genai's types
    trace_recording = lazy_module("inspector_app.exchange.otlp_sessions.trace_recording")

DATABASE = "trace.db"


def unpack_traces(path: str, folder: Path, *, records: bool = True) -> tuple[Path, str]:
    """Write the sessions of a file of traces into a new database, and return it and what was not used.

    Args:
        path: the file of traces.
        folder: an existing folder.
        records: whether to write the requests of its model calls into a recording beside it.

    Raises:
        TraceFileError: see `read_trace_file`.
    """
    found = read_trace_file(path)
    database = folder / DATABASE
    asyncio.run(_store(database, Imported(found.sessions, found.ends)))
    if records:
        trace_recording.record_calls(recording_beside(database), found.calls)
        finish_recording(recording_beside(database))
    return database, found.left_out


@contextmanager
def unpacked_traces(path: str) -> Iterator[tuple[str, str]]:
    """Yield what `unpack_traces` returns, in a private folder that is deleted at the end."""
    folder = Path(tempfile.mkdtemp(prefix="traces-"))
    try:
        database, left_out = unpack_traces(path, folder, records=False)
        yield str(database), left_out
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _store(database: Path, imported: Imported) -> None:
    async with open_session_service(str(database)) as service:
        await store(service, imported)

"""Databases that are written from this window's own sessions. Loading this module loads google-genai's types."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from inspector_app.documents.event_notes import EventNotes
from inspector_app.documents.session_files import copy_files
from inspector_app.documents.sources import DatabaseSource, Source
from inspector_app.engines.recorder_file import finish_recording
from inspector_app.exchange.imported_sessions import Imported
from inspector_app.exchange.storing import store
from runtime.events.credentials import without_credentials
from runtime.forks.fork import session_copy
from runtime.storage.open_service import open_session_service
from runtime.storage.recordings.recording import recording_beside
from runtime.storage.writing import copy_database
from runtime.support.worker_threads import run_in_thread


async def save_memory(source: Source, file: Path) -> None:
    """Store the sessions of an agent in this process, and their notes.

    Args:
        source: the sessions in memory.
        file: the new database.

    Raises:
        StorageError: it cannot be written.
    """
    keys = [summary.key for summary in await source.sessions()]
    lineages = await source.lineages()
    copies = {}
    for key in keys:
        copy = session_copy(await source.history(key), await source.created(key), lineages.get(key))
        copies[key] = replace(copy, events=[without_credentials(event) for event in copy.events], notes=await source.notes(key))
    async with await run_in_thread(open_session_service, str(file)) as service:
        await store(service, Imported(copies, {key: await source.ends(key) for key in keys}))


async def save_file(source: DatabaseSource, file: Path) -> None:
    """Copy a database of unsaved sessions in its layout, with their notes, recording and files.

    Args:
        source: the sessions.
        file: the new database.

    Raises:
        StorageError: it cannot be written.
    """
    await run_in_thread(copy_database.copy_database, source.target, file)
    if source.is_kept:
        await EventNotes(source.target).carry_to(str(file))
    elif source.unsaved_notes:
        async with await run_in_thread(open_session_service, str(file)) as service:
            for key, notes in source.unsaved_notes.items():
                for event_id, note in notes.items():
                    await service.set_note(key, event_id, note)
    await run_in_thread(copy_files, source.target, str(file))
    if source.recording is None:
        return
    await run_in_thread(finish_recording, source.recording)
    if await run_in_thread(source.recording.is_file):
        await run_in_thread(copy_database.copy_recording, source.recording, recording_beside(file))

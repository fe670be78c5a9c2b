"""Databases that are written from this window's own sessions. Loading this module loads google-genai's types."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from inspector_app.documents.sources import Source
from inspector_app.exchange.imported_sessions import Imported
from inspector_app.exchange.storing import store
from runtime import sessions
from runtime.events.credentials import without_credentials
from runtime.forks.fork import session_copy
from runtime.storage.open_service import open_session_service
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


async def save_file(source: Source, file: Path) -> None:
    """Copy the file of agents in processes of their own, in its layout, and add the notes.

    Args:
        source: the sessions in this window's file.
        file: the new database.

    Raises:
        StorageError: it cannot be written.
    """
    await run_in_thread(sessions.copy_of_database, source.target, file)
    if source.unsaved_notes:
        async with await run_in_thread(open_session_service, str(file)) as service:
            for key, notes in source.unsaved_notes.items():
                for event_id, note in notes.items():
                    await service.set_note(key, event_id, note)

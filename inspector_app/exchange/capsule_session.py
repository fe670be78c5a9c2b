"""Making a capsule of a stored session, and unpacking one into a database and a stand-in agent."""

from __future__ import annotations

import asyncio
import importlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from google.genai import types

from inspector_app.engines.stand_in import write_stand_in
from inspector_app.exchange.capsule import FORMAT, SUFFIX, Capsule, read_capsule
from inspector_app.exchange.data_formats import json_lines
from inspector_app.exchange.exported_session import ExportedSession, exported_session, session_of_history, started_from
from inspector_app.exchange.imported_sessions import read_sessions
from inspector_app.exchange.storing import store
from runtime.artifacts.base_artifact_service import BaseArtifactService
from runtime.artifacts.file_artifact_service import FileArtifactService
from runtime.sessions.note import Note
from runtime.sessions.session_key import SessionKey
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.recordings.recording import Recording, recording_beside
from runtime.version import __version__

DATABASE = "session.db"


async def capsule_of(
    database: StoredDatabase,
    target: str,
    key: SessionKey,
    files: BaseArtifactService | None,
    agent: dict[str, Any] | None,
    notes: Mapping[str, Note] | None = None,
    *,
    first: int = 0,
    last: int | None = None,
    kept: frozenset[str] = frozenset(),
) -> Capsule:
    """Return a session, or a part of it, as a capsule, with secrets replaced.

    Args:
        database: the open database.
        target: its path or URL.
        key: the session.
        files: the service that has the session's files; None: there are none.
        agent: the agent's description; None if it is not known.
        notes: the notes on its events; None: those in the database itself.
        first, last: the places of the first and the last event, from 0; None: the last one.
        kept: places in which nothing is replaced; see `ExportedSession`.
    """
    notes = database.notes(key).get(key, {}) if notes is None else notes
    history = database.history(key)
    if first == 0 and last is None:
        updated = next(each.last_update_time for each in database.listing() if each.key == key)
        session = exported_session(database, key, updated, notes=notes, kept=kept)
    else:
        session = session_of_history(history, key, database.created(key), notes=notes, first=first, last=last, kept=kept)
    session.started = started_from(session, history, first, len(history.events) - 1 if last is None else last)
    return await capsule_with(session, Path(target).name if "://" not in target else "", _requests(target, key), files, agent)


async def capsule_with(
    session: ExportedSession, source: str, requests: list[dict[str, Any]], files: BaseArtifactService | None, agent: dict[str, Any] | None
) -> Capsule:
    """Return an exported session as a capsule.

    Args:
        session: the session; it is read.
        source: the database's name; empty for none.
        requests: what models were asked, of any of its events.
        files, agent: see `capsule_of`.
    """
    key = session.key
    text = "".join(json_lines([session]))
    about = {
        "format": FORMAT,
        "made_by": __version__,
        "app_name": key.app_name,
        "user_id": key.user_id,
        "session_id": key.session_id,
        "source": source,
        "agent": agent,
        "started": session.started,
    }
    made = Capsule(about, text)
    ids = {event.get("id") for event in made.events}
    made.requests = [one for one in requests if one["event_id"] in ids]
    made.artifacts = await _artifacts(files, session) if files is not None else []
    about["replaced"] = [place for place in session.places if place not in session.kept]
    made.samples = session.samples
    return made


def _requests(target: str, key: SessionKey) -> list[dict[str, Any]]:
    """Return the recorded requests of a session; secrets were replaced when they were recorded."""
    file = recording_beside(Path(target)) if "://" not in target else None
    if file is None or not file.is_file():
        return []
    found = []
    with closing(Recording(file)) as recording:
        for call in recording.model_calls(key):
            request = recording.request(call.number)
            asked = {"model": request.model, "config": dict(request.config), "contents": list(request.contents)}
            found.append({"event_id": call.event_id, "agent": call.agent, "request": asked, "error": call.error})
    return found


async def _artifacts(files: BaseArtifactService, session: ExportedSession) -> list[dict[str, Any]]:
    """Return all versions of a session's files, and add those in which something is replaced to its `places`."""
    key = session.key
    names = {"app_name": key.app_name, "user_id": key.user_id, "session_id": key.session_id}
    clean = importlib.import_module("inspector_app.resources.plugins.recorder_plugin").redacted
    found: list[dict[str, Any]] = []
    for name in await files.list_artifact_keys(**names):
        for version in await files.list_versions(**names, filename=name):
            part = await files.load_artifact(**names, filename=name, version=version)
            if part is not None:
                raw = json.loads(part.model_dump_json(exclude_none=True))
                cleaned, place = clean(raw), f"file {name}, version {version}"
                if cleaned != raw:
                    session.places.append(place)
                    session.samples[place] = "a file of the session"
                found.append({"filename": name, "version": version, "part": raw if place in session.kept else cleaned})
    return found


def unpack(file: Path, folder: Path) -> tuple[Path, Path]:
    """Unpack a capsule into an empty folder, and return the database and the folder of the stand-in agent.

    Args:
        file: the capsule.
        folder: an existing folder.

    Raises:
        KnownError: the capsule is damaged.
    """
    capsule = read_capsule(file)
    lines = folder / "session.jsonl"
    lines.write_text(capsule.session, "utf-8")
    database = folder / DATABASE
    try:
        imported = read_sessions(str(lines))
    finally:
        lines.unlink()
    agent = folder / "agent"
    write_stand_in(agent, str(capsule.about.get("app_name")), capsule.events)
    asyncio.run(_store(database, imported, capsule))
    return database, agent


async def _store(database: Path, imported: Any, capsule: Capsule) -> None:
    async with open_session_service(str(database)) as service:
        await store(service, imported)
    if not capsule.artifacts:
        return
    files = FileArtifactService(database.with_suffix(".artifacts"), make_now=False, follows_link=False)
    key = next(iter(imported.sessions))
    names = {"app_name": key.app_name, "user_id": key.user_id, "session_id": key.session_id}
    for name, _, part in capsule.files(types.Part.model_validate):
        await files.save_artifact(**names, filename=name, artifact=part)


def unpack_into_new(file: str, parent: Path) -> tuple[Path, Path]:
    """Unpack a capsule into a new folder; see `unpack`.

    Args:
        file: the capsule.
        parent: an existing folder.
    """
    name = Path(file).name.removesuffix(SUFFIX)
    return unpack(Path(file).expanduser(), Path(tempfile.mkdtemp(prefix=f"{name}-", dir=parent)))


@contextmanager
def unpacked(file: str) -> Iterator[tuple[str, str]]:
    """Yield the database and the stand-in agent of a capsule, in a private folder that is deleted at the end.

    Args:
        file: the capsule.

    Raises:
        KnownError: the capsule is damaged.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"{Path(file).name.removesuffix(SUFFIX)}-"))
    try:
        database, agent = unpack(Path(file).expanduser(), folder)
        yield str(database), str(agent)
    finally:
        shutil.rmtree(folder, ignore_errors=True)

"""The owner of titles, over real files."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.genai import types

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import MemorySource
from inspector_app.support.preferences import Preferences
from inspector_app.workspace.kept_sessions import KeptSessions
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.session_catalog import SessionCatalog
from inspector_app.workspace.session_titles import SessionTitles
from runtime.events import Event, EventActions
from runtime.sessions import DatabaseSessionService
from runtime.sessions.note import NAME, Note, NoteError
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import SessionSummary
from tests.unit.inspector_app.workspace.fakes import FakeTasks

KEYS = [SessionKey("travel", "ann", f"s{number}") for number in range(4)]


def said(text: str) -> Event:
    return Event(author="user", invocation_id="i", content=types.Content(role="user", parts=[types.Part(text=text)]))


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
async def file(tmp_path: Path) -> str:
    file = tmp_path / "some.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        for key in KEYS:
            session = await service.create_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
            await service.append_event(session, said(f"Trip {key.session_id}"))
    return str(file)


def delete(file: str) -> None:
    Path(file).unlink()


class Scene:
    """The owner of titles with the owners that it listens to."""

    def __init__(self, folder: Path) -> None:
        self.tasks = FakeTasks()
        self.catalog = SessionCatalog()
        kept = KeptSessions(Preferences(folder / "preferences.json"), MessageBus())
        self.databases = OpenDatabases(self.catalog, self.tasks, kept)  # type: ignore[arg-type]
        self.titles = SessionTitles(self.databases, self.catalog, self.tasks)  # type: ignore[arg-type]
        self.changed: list[set[SessionKey]] = []
        self.titles.changed.connect(lambda _target, keys: self.changed.append(set(keys)))

    async def settle(self) -> None:
        """Read all titles that are wanted."""
        for _ in range(3):
            self.titles._on_settled()
            await self.tasks.run_all()

    def told(self, target: str) -> list[str]:
        return [self.titles.title(SessionAddress(target, key)) for key in KEYS]


@pytest.fixture
def scene(qapp: object, tmp_path: Path) -> Scene:
    return Scene(tmp_path)


async def test_the_titles_of_a_listed_database_are_read(scene: Scene, file: str) -> None:
    await scene.databases.open_database(file, scan=False)
    assert scene.told(file) == ["s0", "s1", "s2", "s3"], "the short id until the title is read"
    await scene.settle()
    assert scene.told(file) == ["Trip s0", "Trip s1", "Trip s2", "Trip s3"]
    assert set().union(*scene.changed) == set(KEYS)
    await scene.databases.close_database(file)
    assert scene.titles.of_database(file) == {}


async def test_of_many_sessions_the_newest_come_first_and_the_others_by_the_scan(
    scene: Scene, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("inspector_app.workspace.session_titles", "inspector_app.workspace.scanning"):
        monkeypatch.setattr(f"{module}.AT_FIRST", 1)
    source = await scene.databases.open_database(file, scan=False)
    await scene.settle()
    assert scene.told(file) == ["s0", "s1", "s2", "Trip s3"]
    scene.titles.want(file, KEYS[1])
    await scene.settle()
    assert scene.told(file) == ["s0", "Trip s1", "s2", "Trip s3"]
    assert source is not None
    scene.databases.scan(source)
    await scene.settle()
    assert scene.told(file) == ["Trip s0", "Trip s1", "Trip s2", "Trip s3"]


async def test_a_title_follows_new_events_rewinds_and_names(scene: Scene, file: str) -> None:
    await scene.databases.open_database(file, scan=False)
    await scene.settle()
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await service.get_session(app_name="travel", user_id="ann", session_id="s0")
        assert session is not None
        await service.append_event(session, Event(author="user", actions=EventActions(rewind_before_invocation_id="i")))
        await service.append_event(session, said("Porto").model_copy(update={"invocation_id": "j", "id": "new"}))
        await service.set_note(KEYS[1], NAME, Note("Named elsewhere"))
    scene.catalog.update_sessions(file, [SessionSummary(KEYS[0], 3, 1.0)], [KEYS[3]])
    scene.titles.reread(file)
    await scene.settle()
    assert scene.told(file) == ["Porto", "Named elsewhere", "Trip s2", "s3"]
    for name, title in (("Mine\n", "Mine"), ("", "Trip s2")):
        scene.titles.rename(SessionAddress(file, KEYS[2]), name)
        await scene.settle()
        assert scene.told(file)[2] == title
    with pytest.raises(NoteError):
        scene.titles.rename(SessionAddress(file, KEYS[2]), "x" * 20_000)


async def test_a_database_that_cannot_be_read_keeps_short_ids(scene: Scene, file: str, tmp_path: Path) -> None:
    await scene.databases.open_database(file, scan=False)
    delete(file)
    await scene.settle()
    assert scene.told(file) == ["s0", "s1", "s2", "s3"]


async def test_sessions_in_memory_have_titles_and_names(scene: Scene) -> None:
    source = await scene.databases.memory("travel")
    service = await source.service()
    session = await service.create_session(app_name="travel", user_id="ann", session_id="s0", state={"user:x": 1})
    await service.append_event(session, said("In memory"))
    await scene.databases.relist(source)
    await scene.settle()
    address = SessionAddress(MemorySource.target, KEYS[0])
    assert scene.titles.title(address) == "In memory"
    scene.titles.rename(address, "Mine")
    await scene.settle()
    assert scene.titles.title(address) == "Mine"

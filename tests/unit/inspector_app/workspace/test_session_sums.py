"""The owner of figures that take reading events, over real files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from google.genai import types

from inspector_app.presentation.prices import Prices
from inspector_app.presentation.session_figures import EventFigures
from inspector_app.support.preferences import Preferences
from inspector_app.workspace import session_sums
from inspector_app.workspace.kept_sessions import KeptSessions
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.session_catalog import SessionCatalog
from inspector_app.workspace.session_sums import SessionSums
from runtime.events import Event
from runtime.sessions import DatabaseSessionService
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import SessionSummary
from tests.unit.inspector_app.workspace.fakes import FakeTasks

KEYS = [SessionKey("travel", "ann", f"s{number}") for number in range(3)]
USED = types.GenerateContentResponseUsageMetadata(prompt_token_count=1_000_000, total_token_count=1_000_000)


def answer(at: float, **more: object) -> Event:
    return Event.model_validate({"author": "me", "invocation_id": "i", "timestamp": at, **more})


@pytest.fixture
async def file(tmp_path: Path) -> str:
    file = tmp_path / "some.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        for number, key in enumerate(KEYS):
            session = await service.create_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
            await service.append_event(session, answer(1.0, usage_metadata=USED, model_version="gemini-2.5-flash" if number else "odd"))
            await service.append_event(session, answer(3.5, error_code="429"))
    return str(file)


class Scene:
    """The owner with the owners that it listens to."""

    def __init__(self, folder: Path) -> None:
        self.tasks = FakeTasks()
        self.catalog = SessionCatalog()
        kept = KeptSessions(Preferences(folder / "preferences.json"), MessageBus())
        self.databases = OpenDatabases(self.catalog, self.tasks, kept)  # type: ignore[arg-type]
        self.sums = SessionSums(self.databases, self.catalog, Prices(), self.tasks)  # type: ignore[arg-type]
        self.progress: list[tuple[int, int]] = []
        self.sums.progressed.connect(lambda done, count: self.progress.append((done, count)))


@pytest.fixture
def scene(qapp: object, tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    scene.sums.want(False)  # nothing awaits what is spawned later


async def test_figures_are_read_once_they_are_wanted(scene: Scene, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_sums, "AT_ONCE", 1)
    await scene.databases.open_database(file, scan=False)
    await scene.tasks.run_all()
    assert scene.sums.of_database(file) == {}
    scene.sums.want(True)
    await scene.tasks.run_all()
    assert scene.sums.of_database(file) == {
        KEYS[0]: EventFigures(1_000_000, None, 2.5, 1),
        KEYS[1]: EventFigures(1_000_000, 0.3, 2.5, 1),
        KEYS[2]: EventFigures(1_000_000, 0.3, 2.5, 1),
    }
    assert scene.progress == [(1, 3), (2, 3), (2, 3), (3, 3)], "all are read only at the end"


async def test_changed_sessions_are_read_again(scene: Scene, file: str) -> None:
    await scene.databases.open_database(file, scan=False)
    scene.sums.want(True)
    await scene.tasks.run_all()
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await service.get_session(app_name="travel", user_id="ann", session_id="s1")
        assert session is not None
        await service.append_event(session, answer(11.0, id="more"))
    scene.catalog.update_sessions(file, [SessionSummary(KEYS[1], 3, 11.0)], [KEYS[2]])
    scene.sums._read_soon()
    await scene.tasks.run_all()
    found = scene.sums.of_database(file)
    assert found.keys() == {KEYS[0], KEYS[1]} and found[KEYS[1]].duration == 10.0


async def test_reading_stops_when_it_is_not_wanted_any_more(scene: Scene, file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_sums, "AT_ONCE", 1)
    await scene.databases.open_database(file, scan=False)
    scene.sums.want(True)
    scene.sums.progressed.connect(lambda _done, _count: scene.sums.want(False))
    await scene.tasks.run_all()
    assert len(scene.sums.of_database(file)) == 1
    await scene.databases.close_database(file)
    assert scene.sums.of_database(file) == {}


async def test_sessions_in_memory_have_figures(scene: Scene) -> None:
    source = await scene.databases.memory("travel")
    service = await source.service()
    session = await service.create_session(app_name="travel", user_id="ann", session_id="s0")
    await service.append_event(session, answer(1.0, error_code="429"))
    await scene.databases.relist(source)
    scene.sums.want(True)
    await scene.tasks.run_all()
    assert scene.sums.of_database(source.target) == {KEYS[0]: EventFigures(0, 0.0, 0.0, 1)}

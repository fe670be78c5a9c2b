"""The displayed session: which one is read, and what of it the catalog receives."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.generated import write_database
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import Committed
from inspector_app.support.preferences import Preferences
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.kept_sessions import KeptSessions
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime.events.event import Event
from tests.unit.inspector_app.workspace.fakes import FakeTasks


class Window:
    """The owners below the displayed session, on a database with one session of ten events."""

    def __init__(self, file: Path) -> None:
        write_database(file, 10)
        self.target = str(file)
        self.tasks = FakeTasks()
        self.cursor = Cursor()
        self.catalog = SessionCatalog()
        kept = KeptSessions(Preferences(file.with_name("preferences.json")), MessageBus())
        self.databases = OpenDatabases(self.catalog, self.tasks, kept)  # type: ignore[arg-type]
        self.current = CurrentSession(self.cursor, self.databases, self.catalog, self.tasks)  # type: ignore[arg-type]

    async def open(self) -> SessionAddress:
        await self.databases.open_database(self.target, scan=False)
        (listed,) = self.catalog.sessions(self.target)
        return SessionAddress(self.target, listed.key)

    async def display(self) -> SessionAddress:
        address = await self.open()
        self.cursor.select_session(address)
        await self.tasks.run_all()
        return address


@pytest.fixture
def window(qapp: object, tmp_path: Path) -> Window:
    return Window(tmp_path / "some.db")


async def test_the_selected_session_is_read_and_examined(window: Window) -> None:
    address = await window.display()
    assert window.current.session is not None and len(window.current.session.events) == 10
    assert address in window.catalog.pending
    await window.databases.close()


async def test_a_session_that_is_no_longer_selected_is_not_displayed(window: Window) -> None:
    loaded: list[object] = []
    window.current.session_loaded.connect(loaded.append)
    window.cursor.select_session(await window.open())
    window.cursor.select_session(None)
    await window.tasks.run_all()
    assert (window.current.session, loaded) == (None, [])
    await window.databases.close()


async def test_closing_the_database_deselects_its_session(window: Window) -> None:
    await window.display()
    await window.databases.close_database(window.target)
    assert (window.cursor.session, window.current.session) == (None, None)


async def test_a_committed_event_is_added_once(window: Window) -> None:
    address = await window.display()
    added: list[list[Event]] = []
    window.current.events_added.connect(added.append)
    event = Event(author="agent", invocation_id="new")
    for _ in range(2):
        window.current.add_committed(address, [Committed(event, {})])
    assert added == [[event]]
    await window.databases.close()


async def test_what_is_committed_while_the_session_is_read_again_stays(window: Window) -> None:
    address = await window.display()
    event = Event(author="agent", invocation_id="new")
    window.current.session_loading.connect(lambda _: window.current.add_committed(address, [Committed(event, {})]))
    await window.current.reload()
    assert window.current.session is not None
    assert window.current.session.index_of(event.id) == 10
    await window.databases.close()


async def test_another_writer_s_change_reports_the_displayed_session_s_invocations(window: Window) -> None:
    address = await window.display()
    found: list[object] = []
    window.current.invocations_found.connect(found.append)
    await window.current.refresh_session(address)
    assert found == []
    await window.current.refresh_invocations(address)
    assert found == [window.current.session]
    await window.databases.close()

"""A window on sessions of a server: the real `adk api_server`, and `agent-inspector api_server`."""

from __future__ import annotations

import json
import os
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QInputDialog, QPushButton

from inspector_app.sessions.deletion_dialog import DeletionDialog
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.workspace.manual_events import ManualEvents
from tests.end2end.api_server import api_server
from tests.gui.window.driver import WindowDriver
from tests.interop.adk_server import adk_api_server
from tests.interop.served_agents import write_desk

PICTURES = os.environ.get("SERVER_PICTURES")
SECONDS = 60_000  # milliseconds; a slow machine needs a part of it


@pytest.fixture(scope="module", params=["google-adk", "ours"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with one agent."""
    folder = write_desk(tmp_path_factory.mktemp("served") / "agents")
    with adk_api_server(folder) if request.param == "google-adk" else api_server(folder) as running:
        yield running if isinstance(running, str) else f"http://127.0.0.1:{running.port}"


def post(address: str, path: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as found:
        return json.load(found)


def said(text: str, session: str, user: str) -> dict[str, Any]:
    return {"appName": "desk", "userId": user, "sessionId": session, "newMessage": {"role": "user", "parts": [{"text": text}]}}


def picture(driver: WindowDriver, name: str) -> None:
    if PICTURES:
        (QApplication.activeModalWidget() or driver.inspector.window).grab().save(f"{PICTURES}/{name}.png")


def open_server(driver: WindowDriver, address: str) -> None:
    driver.inspector.features.opening.opening.open_path(address)
    driver.run_until(lambda: driver.inspector.databases.source(address) is not None, SECONDS)
    driver.run_until(lambda: not driver.inspector.tasks.running, SECONDS)


def rows(driver: WindowDriver) -> list[str]:
    """Return the displayed events, without the lines of their invocations and the ends of agents."""
    events = driver.inspector.features.stream.events
    shown = [events.stream_row(row) for row in range(events.rowCount())]
    return [row.summary for row in shown if row.kind != "invocation" and not row.summary.startswith("end of ")]


def send(driver: WindowDriver, text: str) -> None:
    with driver.qtbot.waitSignal(driver.inspector.run.run_ended, timeout=SECONDS):
        driver.composer.send(text)
    driver.run_until(lambda: not driver.inspector.tasks.running, SECONDS)


def test_a_message_runs_in_the_server_and_its_text_arrives_in_pieces(driver: WindowDriver, server: str) -> None:
    address = f"{server}?user=new"
    pieces: list[str] = []
    driver.inspector.run.partial_arrived.connect(lambda _, event: pieces.append(event.content.parts[0].text))
    open_server(driver, address)
    titles = [each.text[0] for each in driver.bench.parts.stream.findChildren(EmptyState)]
    assert f"desk on {server.removeprefix('http://')} is ready" in titles
    send(driver, "hello")
    assert pieces == ["one ", "two"]
    assert rows(driver)[:2] == ["hello", "one two"]
    send(driver, "save a note")
    assert driver.stream.results("write_note") == [{"version": 0}]
    assert driver.state.values()["notes"] == "1"
    assert [name for name, *_ in driver.state.files()] == ["note.txt"]
    send(driver, "approve")
    assert driver.inspector.window.run_bar.state_text == "waiting"
    picture(driver, "waiting")
    (item,) = next(iter(driver.inspector.catalog.pending.values()))
    with driver.qtbot.waitSignal(driver.inspector.run.run_ended, timeout=SECONDS):
        driver.inspector.run.respond(item, {"status": "approved"})
    driver.run_until(lambda: not driver.inspector.tasks.running, SECONDS)
    assert rows(driver)[-1] == "ask_manager says {'status': 'approved'}"
    assert not any(driver.inspector.catalog.pending.values())
    with urllib.request.urlopen(f"{server}/apps/desk/users/new/sessions", timeout=60) as found:
        (session,) = json.load(found)
    with urllib.request.urlopen(f"{server}/apps/desk/users/new/sessions/{session['id']}", timeout=60) as found:
        assert driver.stream.ids() == [event["id"] for event in json.load(found)["events"]]


def test_a_run_is_held_between_its_events_and_stopped(driver: WindowDriver, server: str) -> None:
    post(server, "/apps/desk/users/held/sessions/s1", {})
    open_server(driver, f"{server}?user=held")
    driver.breakpoints.add('call.write_note.args.text == "hello"')
    driver.composer.send("save a note")
    driver.run_until(lambda: driver.inspector.run.phase == "paused", SECONDS)
    assert rows(driver) == ["save a note", 'call write_note(text="hello")']
    assert "is held by not reading on" in driver.log_text()
    picture(driver, "held")
    with driver.qtbot.waitSignal(driver.inspector.run.run_ended, timeout=SECONDS):
        driver.inspector.run.continue_run()
    driver.run_until(lambda: not driver.inspector.tasks.running, SECONDS)
    assert rows(driver)[2] == "write_note → {version: 0}"


def test_what_others_run_appears(driver: WindowDriver, server: str) -> None:
    post(server, "/apps/desk/users/others/sessions/s1", {"k": 1})
    open_server(driver, f"{server}?user=others")
    assert rows(driver) == []
    driver.run_until(lambda: driver.inspector.work.tail._threads)
    post(server, "/run", said("hello", "s1", "others"))
    driver.run_until(lambda: rows(driver)[:2] == ["hello", "one two"], SECONDS)
    driver.run_until(lambda: [index.data() for index in driver.sessions.indexes("session")] == ["hello"], SECONDS)
    post(server, "/apps/desk/users/others/sessions/s2", {})
    driver.run_until(lambda: len(driver.sessions.indexes("session")) == 2, SECONDS)


def test_state_is_edited_and_sessions_are_forked_and_deleted_by_the_server(driver: WindowDriver, server: str) -> None:
    post(server, "/apps/desk/users/edits/sessions/s1", {"k": 1})
    post(server, "/run", said("hello", "s1", "edits"))
    open_server(driver, f"{server}?user=edits")
    one = driver.inspector
    commits = ManualEvents(one.agents, one.current, one.run, one.tasks, one.messages)
    commits.commit("Editing", lambda engine, shown: engine.edit_state(shown.address.key, {"k": 2}))
    driver.run_until(lambda: not driver.inspector.tasks.running, SECONDS)
    with urllib.request.urlopen(f"{server}/apps/desk/users/edits/sessions/s1", timeout=60) as found:
        assert json.load(found)["state"]["k"] == 2
    before = driver.inspector.cursor.session
    assert before is not None
    driver.fork.ask(1)
    driver.fork.choose("fork")
    fork = driver.fork.wait(before)
    driver.run_until(lambda: not driver.inspector.tasks.running, SECONDS)
    assert rows(driver) == ["hello", "one two"]
    assert fork.database == f"{server}?user=edits"
    pane = driver.bench.parts.sessions
    pane.delete_requested.emit(fork.database, [fork.key])
    driver.run_until(lambda: driver.inspector.window.findChild(DeletionDialog) is not None, SECONDS)
    dialog = driver.inspector.window.findChild(DeletionDialog)
    assert isinstance(dialog, DeletionDialog)
    next(one for one in dialog.findChildren(QPushButton) if one.text().startswith("Delete")).click()
    driver.run_until(lambda: len(driver.sessions.indexes("session")) == 1, SECONDS)
    with urllib.request.urlopen(f"{server}/apps/desk/users/edits/sessions", timeout=60) as found:
        assert [session["id"] for session in json.load(found)] == ["s1"]


def test_the_app_of_the_next_session_is_chosen(driver: WindowDriver, tmp_path: Path) -> None:
    folder = write_desk(tmp_path / "agents")
    shutil.copytree(folder / "desk", folder / "counter")
    with adk_api_server(folder) as address:
        open_server(driver, address)
        choose_app(driver, ["counter", "desk"], "desk")
        send(driver, "hello")
        driver.inspector.window.commands.choose_engine.trigger()
        driver.run_until(lambda: not driver.inspector.tasks.running, SECONDS)
        assert choose_app(driver, ["counter", "desk"], "counter") == "desk"
        send(driver, "hello")
        assert {each.key.app_name for each in driver.inspector.catalog.sessions(address)} == {"counter", "desk"}


def choose_app(driver: WindowDriver, offered: list[str], app: str) -> str:
    """Choose an app in the dialog, and return the one that was proposed."""
    dialog = driver.inspector.window.findChild(QInputDialog, "server_app")
    assert [*dialog.comboBoxItems()] == offered
    proposed = dialog.textValue()
    dialog.setTextValue(app)
    dialog.accept()
    driver.run_until(lambda: not driver.inspector.tasks.running, SECONDS)
    driver.qtbot.waitUntil(lambda: driver.inspector.window.findChild(QInputDialog, "server_app") is None)
    return proposed

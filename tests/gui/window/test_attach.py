"""A window that is attached to a running app, a real process with google-adk and the inspector plugin."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton

from inspector_app.opening.attach_dialog import AttachDialog
from runtime.sessions.session_key import SessionKey
from tests.gui.window.driver import WindowDriver
from tests.interop.attach.conftest import WEATHER, WEATHER_TEXTS, StartApp, UserApp, runtime_folder, start_app

pytestmark = pytest.mark.usefixtures("prepared_pythons")

__all__ = ["runtime_folder", "start_app"]

PICTURES = os.environ.get("ATTACH_PICTURES")


def picture(driver: WindowDriver, name: str) -> None:
    if PICTURES:
        (QApplication.activeModalWidget() or driver.inspector.window).grab().save(f"{PICTURES}/{name}.png")


def dialog_of(driver: WindowDriver) -> AttachDialog:
    driver.inspector.window.commands.attach.trigger()
    dialog = driver.inspector.window.findChild(AttachDialog)
    assert isinstance(dialog, AttachDialog)
    return dialog


def attach(driver: WindowDriver, app: UserApp) -> None:
    dialog = dialog_of(driver)
    driver.run_until(lambda: dialog.rows, timeout=30_000)
    tile = next(one for one in dialog.findChildren(QPushButton, "attach_app") if f"process {app.pid}" in one.accessibleName())
    driver.qtbot.mouseClick(tile, Qt.MouseButton.LeftButton)
    driver.run_until(lambda: driver.inspector.run.attached is not None)


def run_state(driver: WindowDriver) -> str:
    bar = driver.inspector.window.run_bar
    return f"{bar.state_text} {bar.detail_text}"


def run_until_watched(driver: WindowDriver, session: str, count: int) -> None:
    """Run the event loop until a session has this many events, and the app runs nothing."""
    attached = driver.inspector.run.attached
    assert attached is not None
    key = SessionKey("user_app", "u", session)
    driver.run_until(lambda: driver.inspector.run.is_watching and attached.source.count(key) == count, timeout=30_000)
    driver.run_until(lambda: len(driver.inspector.tasks.running) == 1)  # the watching


def test_an_empty_list_says_how_an_app_is_listed(driver: WindowDriver, runtime_folder: Path) -> None:
    dialog = dialog_of(driver)
    heading = dialog.findChild(QLabel, "attach_heading")
    driver.run_until(lambda: heading.text() == "No app with the inspector plugin is running")
    plugin = dialog.findChild(QLineEdit, "attach_plugin")
    assert plugin.isVisible() and Path(plugin.text()).is_file()
    picture(driver, "empty")
    dialog.reject()


def test_an_app_is_watched_held_stepped_edited_and_left(driver: WindowDriver, start_app: StartApp) -> None:
    app = start_app()
    attach(driver, app)
    window, run = driver.inspector.window, driver.inspector.run
    assert run_state(driver) == f"watching user_app ({app.pid})"
    assert window.status.text("engine") == f"attached to user_app ({app.pid}) · google-adk 2.13.0"
    picture(driver, "watching")
    app.send(WEATHER)
    assert app_answer(driver, app)["texts"] == WEATHER_TEXTS
    run_until_watched(driver, "s1", 4)
    assert driver.stream.rows()[-1] == "It is blue."
    assert driver.stream.results("weather") == [{"sky": "blue over Bern"}]
    assert run.requests.request_of(driver.stream.ids()[-1]) is not None

    window.commands.pause.trigger()
    app.send(WEATHER)
    driver.run_until_held()
    window.commands.step_into.trigger()
    driver.run_until_held()
    assert run.hold is not None and run.hold.place == "before model"
    window.commands.step.trigger()
    driver.run_until_held()
    assert run_state(driver).startswith("held at 6")
    picture(driver, "held")
    window.commands.step_into.trigger()
    driver.run_until(lambda: run.hold is not None and run.hold.place == "before tool")
    picture(driver, "before-tool")
    driver.held.editor.setPlainText(json.dumps({"city": "Rom"}))
    window.commands.step.trigger()
    driver.run_until_held()
    assert driver.stream.results("weather")[-1] == {"sky": "blue over Rom"}

    send = driver.inspector.run.blocked("send")
    assert send == f"user_app ({app.pid}) drives its own runs. To use this window otherwise, stop watching it first (Shift+F5)."
    for action in (window.commands.fork, window.commands.rewind, window.commands.resume, window.commands.new_session):
        assert not action.isEnabled()
    assert "the window can only watch, hold and step it." in window.commands.fork.toolTip()
    assert driver.inspector.run.blocked("resume") is not None

    window.commands.stop.trigger()
    assert app_answer(driver, app)["texts"][1] == "result {'sky': 'blue over Rom'}"
    driver.run_until(lambda: run.phase == "idle")
    assert f"Stopped watching user_app ({app.pid}). The app continues without the window." in driver.log_text()
    picture(driver, "detached")
    assert window.status.text("engine") == ""
    assert run.attached is None


def app_answer(driver: WindowDriver, app: UserApp) -> dict[str, object]:
    """Return what the app says next, while the window runs."""
    driver.run_until(lambda: not app.is_silent, timeout=60_000)
    return app.answer()


def test_an_app_that_is_killed_while_held_is_reported(driver: WindowDriver, start_app: StartApp) -> None:
    app = start_app()
    attach(driver, app)
    driver.inspector.window.commands.pause.trigger()
    app.send(WEATHER)
    driver.run_until_held()
    driver.inspector.window.commands.step.trigger()
    driver.run_until_held()
    app.process.kill()
    driver.run_until(lambda: driver.inspector.run.phase == "idle")
    assert f"user_app ({app.pid}) has ended." in driver.log_text()
    picture(driver, "killed")
    assert driver.inspector.run.hold is None


def test_a_held_run_of_another_session_is_displayed(driver: WindowDriver, start_app: StartApp) -> None:
    app = start_app()
    attach(driver, app)
    app.send(WEATHER, "first")
    app_answer(driver, app)
    run_until_watched(driver, "first", 4)
    assert driver.inspector.cursor.session is not None and driver.inspector.cursor.session.key.session_id == "first"
    app.send(WEATHER, "second")  # is not displayed, as the first is
    app_answer(driver, app)
    run_until_watched(driver, "second", 4)
    assert driver.inspector.cursor.session.key.session_id == "first"
    driver.breakpoints.add("", when="before tool", tool="weather")
    app.send(WEATHER, "second")
    driver.run_until_held()
    driver.run_until(lambda: len(driver.stream.events()) == 6)
    assert driver.inspector.cursor.session.key.session_id == "second"
    driver.inspector.window.commands.run.trigger()
    assert app_answer(driver, app)["texts"] == WEATHER_TEXTS


def test_what_has_ended_is_not_running_when_its_session_is_displayed_again(driver: WindowDriver, start_app: StartApp) -> None:
    app = start_app()
    attach(driver, app)
    inspector = driver.inspector
    for name in ("first", "second"):
        app.send(WEATHER, name)
        app_answer(driver, app)
        run_until_watched(driver, name, 4)
    for name in ("second", "first", "second"):
        assert inspector.cursor.session is not None
        inspector.cursor.select_session(replace(inspector.cursor.session, key=SessionKey("user_app", "u", name)))
        driver.run_until(lambda: inspector.current.session is not None and inspector.current.session.address == inspector.cursor.session)
        assert inspector.current.session is not None
        assert {*inspector.current.session.statuses.values()} == {"finished"}, name


def test_the_apps_database_is_offered(driver: WindowDriver, start_app: StartApp, tmp_path: Path) -> None:
    file = tmp_path / "user.db"
    app = start_app(database=str(file))
    attach(driver, app)
    app.send(WEATHER)
    app_answer(driver, app)
    hint = driver.bench.parts.app_hint
    driver.run_until(lambda: hint.text)
    assert hint.text == f"The app stores its sessions in {file}. Other sessions are there, too."
    picture(driver, "database")
    hint.button.click()
    driver.run_until(lambda: driver.inspector.databases.source(str(file)) is not None)
    driver.run_until(lambda: not hint.text)


def test_a_second_window_is_refused_with_a_sentence(driver: WindowDriver, start_app: StartApp) -> None:
    app = start_app()
    other, hello = app.connect()
    assert hello["type"] == "hello"
    dialog = dialog_of(driver)
    driver.run_until(lambda: dialog.rows, timeout=30_000)
    assert dialog.rows[0].problem == f"The window of process {os.getpid()} is attached to it."
    picture(driver, "taken")
    other.close()
    driver.run_until(lambda: not dialog.rows[0].problem, timeout=30_000)
    dialog.reject()


def test_streamed_text_appears_as_it_arrives(driver: WindowDriver, start_app: StartApp) -> None:
    app = start_app()
    attach(driver, app)
    pieces: list[str] = []
    driver.inspector.run.partial_arrived.connect(lambda address, event: pieces.append(event.content.parts[0].text))
    app.send(json.dumps([["stream", *[f"{number} " for number in range(2_000)]]]))
    answer = app_answer(driver, app)
    run_until_watched(driver, "s1", 2)
    assert "".join(pieces) == answer["texts"][0]  # type: ignore[index]


@pytest.mark.parametrize("version", ["embedded"])
def test_the_embedded_runtime_is_attached_to_as_well(driver: WindowDriver, start_app: StartApp, version: str) -> None:
    app = start_app(version)
    attach(driver, app)
    driver.inspector.window.commands.pause.trigger()
    app.send(WEATHER)
    driver.run_until_held()
    driver.inspector.window.commands.run.trigger()
    assert app_answer(driver, app)["texts"] == WEATHER_TEXTS


def test_what_the_app_runs_when_the_window_leaves_is_not_interrupted(driver: WindowDriver, start_app: StartApp) -> None:
    app = start_app()
    attach(driver, app)
    driver.inspector.window.commands.pause.trigger()
    app.send(WEATHER)
    driver.run_until_held()
    driver.inspector.window.commands.step.trigger()
    driver.run_until_held()
    driver.inspector.window.commands.stop.trigger()
    driver.run_until(lambda: driver.inspector.run.phase == "idle")
    driver.run_until_idle()
    session = driver.inspector.current.session
    assert session is not None
    assert set(session.statuses.values()) == {"unfinished"}
    assert not driver.bench.parts.resume_hint.text
    assert run_state(driver) == "idle "
    assert app_answer(driver, app)["texts"] == WEATHER_TEXTS
    picture(driver, "left")

"""An agent with unchanged `google.adk` imports, in its own environment, in the whole window."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QMenu, QPushButton

from tests.gui.window.driver import WindowDriver
from tests.gui.window.trusting import trust_folder
from tests.interop.engines.test_commands import STATE_ONLY_AGENT
from tests.interop.google_adk import adk_python, run_adk

pytestmark = pytest.mark.usefixtures("prepared_pythons")

STEPS = Path(__file__).parents[2] / "interop" / "engines" / "agents" / "steps"

WEATHER = json.dumps([["call", "weather", {"city": "Bern"}], ["stream", "It is ", "blue."]])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return an agent's folder below a folder with a `.venv` that has google-adk."""
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".venv").symlink_to(Path(adk_python()).parent.parent)
    return Path(shutil.copytree(STEPS, tmp_path / "project" / "steps", ignore=shutil.ignore_patterns("__pycache__")))


def open_agent(driver: WindowDriver, folder: Path) -> None:
    trust_folder(driver.inspector, folder)
    with driver.qtbot.waitSignal(driver.inspector.agents.agent_loaded, timeout=60_000):
        driver.inspector.features.opening.opening.open_path(str(folder))
    driver.run_until_idle()


def test_the_trust_question_names_the_python_and_google_adk(driver: WindowDriver, project: Path) -> None:
    with driver.qtbot.waitSignal(driver.inspector.agents.trust_requested):
        driver.inspector.features.opening.opening.open_path(str(project))
    shown = driver.inspector.window.findChild(QLabel, "trust_engine")
    assert "with google-adk 2.13.0 (" in shown.text()
    assert shown.isVisible()
    accept = driver.inspector.window.findChild(QPushButton, "trust_accept")
    with driver.qtbot.waitSignal(driver.inspector.agents.agent_loaded, timeout=60_000):
        driver.qtbot.mouseClick(accept, Qt.MouseButton.LeftButton)
    driver.run_until_idle()
    assert driver.inspector.window.status.text("engine") == "steps_app · google-adk 2.13.0"


def test_a_message_runs_on_its_google_adk(driver: WindowDriver, project: Path) -> None:
    open_agent(driver, project)
    driver.run_message(WEATHER)
    assert driver.stream.rows()[-2:] == ["It is blue.", "end of steps"]
    assert driver.stream.results("weather") == [{"sky": "blue over Bern"}]
    assert "stdout: looking up Bern" in driver.log_text()
    assert driver.inspector.run.requests.request_of(driver.stream.ids()[-2]) is not None
    driver.run_message(WEATHER)
    assert len(driver.stream.results("weather")) == 2


def test_stepping_holds_it_at_each_event(driver: WindowDriver, project: Path) -> None:
    open_agent(driver, project)
    commands = driver.inspector.window.commands
    driver.bench.parts.composer.set_text(WEATHER)
    commands.step.trigger()
    driver.run_until_held()
    assert len(driver.stream.events()) == 2  # the message and the call
    commands.step_into.trigger()
    driver.run_until(lambda: driver.inspector.run.hold is not None and driver.inspector.run.hold.place == "before tool")
    commands.stop.trigger()
    driver.run_until(lambda: driver.inspector.run.phase == "idle")
    driver.run_until_idle()
    assert [list(result) for result in driver.stream.results("weather")] == [["error"]]


def test_a_crash_is_reported_with_its_last_lines_and_the_next_run_starts_again(driver: WindowDriver, project: Path) -> None:
    open_agent(driver, project)
    driver.run_message(json.dumps([["call", "crash", {}], ["done"]]))
    assert "was killed by SIGSEGV" in driver.log_text()
    assert "about to crash" in driver.log_text()
    driver.run_message(WEATHER)
    assert driver.stream.results("weather") == [{"sky": "blue over Bern"}]


def test_a_crashed_run_is_resumed(driver: WindowDriver, project: Path, tmp_path: Path) -> None:
    open_agent(driver, project)
    note, crash = {"path": str(tmp_path / "notes"), "text": "one"}, {}
    driver.run_message(json.dumps([["call", "note", note], ["call", "crash", crash], ["done"]]))
    assert driver.inspector.run.blocked("resume") is None
    (project / "agent.py").write_text((project / "agent.py").read_text().replace("ctypes.string_at(0)", "pass"))
    driver.inspector.window.commands.reload.trigger()
    driver.run_until_idle()
    driver.inspector.window.commands.resume.trigger()
    driver.run_until_idle()
    with driver.qtbot.waitSignal(driver.inspector.run.run_ended, timeout=60_000):
        driver.preflight.accept()
    driver.run_until_idle()
    assert (tmp_path / "notes").read_text() == "one\n"
    assert "done" in driver.stream.rows()


def test_a_database_of_adk_web_is_continued(driver: WindowDriver, project: Path) -> None:
    (project / ".adk").mkdir()
    file = project / ".adk" / "session.db"
    run_adk(
        """
        service = SqliteSessionService(db_path=args[0])
        await service.create_session(app_name="steps_app", user_id="user", session_id="s1", state={"city": "Rom"})
        """,
        str(file),
    )
    open_agent(driver, project)
    driver.inspector.features.opening.opening.open_path(str(file))
    driver.run_until_idle()
    assert driver.inspector.cursor.session is not None
    source = driver.inspector.databases.source(str(file))
    assert source is not None
    driver.inspector.tasks.spawn(driver.inspector.databases.allow_writing(source), "Allowing")
    driver.run_until_idle()
    driver.run_message(WEATHER)
    listed = run_adk(
        """
        service = SqliteSessionService(db_path=args[0])
        session = await service.get_session(app_name="steps_app", user_id="user", session_id="s1")
        return [session.state["city"], len(session.events)]
        """,
        str(file),
    )
    assert listed == ["Bern", len(driver.stream.events())]


def test_the_engine_is_changed_in_the_status_bar(driver: WindowDriver, project: Path) -> None:
    open_agent(driver, project)
    engine = driver.inspector.window.status.findChild(QLabel, "status_engine")
    driver.qtbot.mouseClick(engine, Qt.MouseButton.LeftButton)
    menu = driver.inspector.window.findChild(QMenu, "engine_menu")
    driver.run_until(menu.isVisible)
    assert [action.text() for action in menu.actions() if action.isChecked()] == [
        f"google-adk 2.13.0 ({project.parent / '.venv/bin/python'})"
    ]
    embedded = next(action for action in menu.actions() if action.objectName() == "engine_embedded")
    with driver.qtbot.waitSignal(driver.inspector.agents.agent_loaded, timeout=20_000):
        embedded.trigger()
    menu.hide()
    driver.run_until_idle()
    assert driver.inspector.window.status.text("engine") == "steps_app · embedded runtime"
    assert driver.inspector.settings.engine(project) == {"kind": "embedded", "python": None}


def test_a_run_is_forked_and_run_again_from_its_recording(driver: WindowDriver, project: Path, tmp_path: Path) -> None:
    open_agent(driver, project)
    note = {"path": str(tmp_path / "notes"), "text": "one"}
    driver.run_message(json.dumps([["call", "note", note], ["done"]]))
    original = driver.inspector.cursor.session
    rows = driver.stream.rows()
    driver.fork.ask(driver.inspector.features.stream.events.event_count - 1)
    button = driver.bench.parts.fork_card.button("rerun")
    assert button is not None and button.isEnabled(), button
    with driver.qtbot.waitSignal(driver.inspector.run.run_ended, timeout=60_000) as ended:
        driver.fork.choose("rerun")
    driver.run_until_idle()
    assert ended.args[0].error is None
    assert driver.inspector.cursor.session != original
    assert driver.stream.rows()[1:] == rows[1:]
    assert (tmp_path / "notes").read_text() == "one\n"
    assert any("2 model calls and 1 tool call" in message.text for message in driver.inspector.window.message_bar.messages)


def test_a_run_that_only_changes_state_is_not_shown_as_interrupted(driver: WindowDriver, project: Path) -> None:
    (project / "agent.py").write_text(STATE_ONLY_AGENT)
    open_agent(driver, project)
    driver.run_message("hi")
    session = driver.inspector.current.session
    assert session is not None
    assert [(one.status, one.pending) for one in session.invocations] == [("finished", ())]

"""What an agent prints, logs and raises: in the log, and at the event during which it was written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QListWidget

from inspector_app.app import Inspector
from inspector_app.detail.event_detail import EventDetail
from inspector_app.workspace.traceback_store import TracebackStore
from inspector_app.workspace.written_output import WrittenOutput
from tests.gui.window.driver import WindowDriver
from tests.gui.window.test_own_environment import STEPS, open_agent
from tests.interop.google_adk import adk_python

pytestmark = [pytest.mark.logs("no key for"), pytest.mark.usefixtures("prepared_pythons")]

CODE = """
import logging
from runtime.agents import LlmAgent
from runtime.models import ScriptedLlm

logger = logging.getLogger("trips")

def look_up(city):
    print("looking up", city)
    logger.warning("no key for %s", city)
    return {"sky": "blue"}

def fail(number):
    print("failing")
    return {}[number]

def told(callback_context):
    print("starting")

calls = [["look_up", {"city": "Bern"}], ["look_up", {"city": "Rom"}]]
root_agent = LlmAgent(
    name="trips",
    model=ScriptedLlm(replies=[{"calls": calls}, {"calls": [["fail", {"number": 3}]]}, "done"]),
    tools=[look_up, fail],
    before_agent_callback=told,
)
"""


def output(driver: WindowDriver, index: int) -> tuple[str, list[str]]:
    """Select an event; return the title of its card of output, none if there is no such card, and the lines without their times."""
    driver.stream.select(index)
    detail: EventDetail = driver.bench.parts.detail
    title = detail.cards.output.title if detail.cards.output.isVisible() else ""
    return title, [line.split("  ", 1)[-1] for line in detail.cards.output_text.splitlines()]


def test_each_line_is_shown_at_the_event_during_which_it_was_written(driver: WindowDriver, agent: Callable[[str, str], Inspector]) -> None:
    agent("trips", CODE)
    driver.run_message("hello")
    kinds = [(event.author, len(event.get_function_calls()), len(event.get_function_responses())) for event in driver.stream.events()]
    assert kinds[:3] == [("user", 0, 0), ("trips", 2, 0), ("trips", 0, 2)]
    assert output(driver, 1) == ("Output · 1 line", ["stdout   starting"])
    driver.run_until(lambda: output(driver, 2)[0] == "Output · 4 lines")  # tools run on threads, whose lines may come after the run's end
    assert sorted(output(driver, 2)[1]) == [
        "logging  WARNING trips: no key for Bern",
        "logging  WARNING trips: no key for Rom",
        "stdout   looking up Bern",
        "stdout   looking up Rom",
    ]
    assert output(driver, 0)[0] == ""
    log = driver.log_text()
    assert "look_up · stdout: looking up Bern" in log and "look_up · logging: WARNING trips: no key for Rom" in log
    assert "trips · stdout: starting" in log


def test_a_line_in_the_log_leads_to_its_event_and_a_traceback_to_the_failed_call(
    driver: WindowDriver, agent: Callable[[str, str], Inspector]
) -> None:
    inspector = agent("trips", CODE)
    driver.run_message("hello")
    (failed,) = [
        number for number, event in enumerate(driver.stream.events()) if any(call.name == "fail" for call in event.get_function_calls())
    ]
    shown = driver.bench.parts.log.findChild(QListWidget, "log_list")
    row = next(row for row in range(shown.count()) if shown.item(row).text().endswith("fail · KeyError: 3"))
    shown.setCurrentRow(row)
    driver.run_until_idle()
    assert inspector.cursor.event_index == failed
    title, lines = output(driver, failed)
    assert title == "Traceback"
    assert lines[-3:] == ["KeyError: 3", "", "stdout   failing"]
    frames = [line for line in lines if line.startswith("File ")]
    assert len(frames) == 1 and frames[0].endswith("in fail")
    shown.setCurrentRow(next(row for row in range(shown.count()) if "looking up Bern" in shown.item(row).text()))
    driver.run_until_idle()
    assert inspector.cursor.event_index == 2


def test_a_traceback_is_there_after_a_restart_and_what_was_printed_is_not(
    driver: WindowDriver, agent: Callable[[str, str], Inspector], tmp_path: Path
) -> None:
    inspector = agent("trips", CODE)
    database = tmp_path / "trips.db"
    driver.inspector.tasks.spawn(driver.inspector.open([str(tmp_path / "trips"), str(database)]), "Opening")
    driver.run_until_idle()
    address = driver.run_message("hello")
    assert address.database == str(database)
    kept = list((inspector.settings.folder / "tracebacks").iterdir())
    assert [file.stat().st_mode & 0o777 for file in kept] == [0o600]
    assert "looking up" not in kept[0].read_text()
    (found,) = TracebackStore(kept[0].parent).read(address)
    again = WrittenOutput()
    again.restore(address, [found, found])
    assert [line.text.rpartition("\n")[2] for line in again.of_event(found[0])] == ["KeyError: 3"]


def test_the_output_of_an_agent_on_google_adk_is_shown_at_its_event(driver: WindowDriver, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".venv").symlink_to(Path(adk_python()).parent.parent)
    project = Path(shutil.copytree(STEPS, tmp_path / "project" / "steps", ignore=shutil.ignore_patterns("__pycache__")))
    open_agent(driver, project)
    driver.run_message(json.dumps([["call", "weather", {"city": "Bern"}], ["call", "broken", {"number": 3}], ["done"]]))
    assert "stdout   looking up Bern" in output(driver, 2)[1]
    assert "weather · stdout: looking up Bern" in driver.log_text()
    title, lines = output(driver, 4)
    assert title == "Traceback" and "ValueError: no 3 here" in lines
    assert "steps/agent.py" in lines[1]

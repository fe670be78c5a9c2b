"""A workflow graph of google-adk 2, stepped in the whole window."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gui.window.driver import WindowDriver
from tests.gui.window.test_own_environment import open_agent
from tests.interop.google_adk import adk_python

pytestmark = pytest.mark.usefixtures("prepared_pythons")

CODE = """
from google.adk.workflow import START, Workflow

def classify(node_input: str) -> str:
    return f"refund: {node_input}"

def look_up(node_input: str) -> str:
    return "paid"

def answer(node_input: str) -> str:
    return f"It is {node_input}."

inner = Workflow(name="checks", edges=[(START, look_up)])
root_agent = Workflow(name="desk", edges=[(START, classify, inner, answer)])
"""


def test_each_node_has_a_row_with_its_name_output_and_depth(driver: WindowDriver, tmp_path: Path) -> None:
    (tmp_path / "project" / "desk").mkdir(parents=True)
    (tmp_path / "project" / ".venv").symlink_to(Path(adk_python()).parent.parent)
    (tmp_path / "project" / "desk" / "agent.py").write_text(CODE)
    open_agent(driver, tmp_path / "project" / "desk")
    commands, model = driver.inspector.window.commands, driver.inspector.features.stream.events
    driver.bench.parts.composer.set_text("money?")
    commands.step.trigger()
    driver.run_until_held()
    assert "Held after classify's output" in driver.bench.parts.held.text
    assert driver.bench.parts.held.code.text() == "agent.py:4"
    commands.step.trigger()
    driver.run_until(lambda: driver.inspector.run.phase == "paused" and len(driver.stream.events()) == 3)
    assert "Held after look_up's output" in driver.bench.parts.held.text
    commands.run.trigger()
    driver.run_until(lambda: driver.inspector.run.phase == "idle")
    driver.run_until_idle()
    rows = [model.stream_row(row) for row in range(model.rowCount())]
    shown = [(row.author, row.summary, row.lanes) for row in rows if row.kind == "event"]
    assert shown == [
        ("user", "money?", 0),
        ("desk", 'classify → "refund: money?"', 0),
        ("checks", 'look_up → "paid"', 1),
        ("desk", 'answer → "It is paid."', 0),
    ]

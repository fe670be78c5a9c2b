"""Events that an agent on google-adk commits while it is held, in the whole window."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel

from inspector_app.stream.event_cells import Column, cell_tooltip, row_text
from tests.gui.window.driver import WindowDriver
from tests.gui.window.test_own_environment import open_agent
from tests.interop.engines.conftest import AGENTS
from tests.interop.google_adk import adk_python

pytestmark = pytest.mark.usefixtures("prepared_pythons")


def test_an_event_that_ran_ahead_is_marked_in_its_row_and_its_detail(driver: WindowDriver, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".venv").symlink_to(Path(adk_python()).parent.parent)
    folder = tmp_path / "project" / "beside"
    shutil.copytree(AGENTS / "beside", folder, ignore=shutil.ignore_patterns("__pycache__"))
    open_agent(driver, folder)
    commands, model = driver.inspector.window.commands, driver.inspector.features.stream.events
    note = driver.bench.parts.detail.findChild(QLabel, "event_note")

    def marks() -> list[bool]:
        rows = map(model.stream_row, range(model.rowCount()))
        return [row.ran_ahead for row in rows if row.kind == "event"]

    driver.bench.parts.composer.set_text("go")
    commands.step.trigger()
    driver.run_until_held()
    driver.run_until(lambda: len(driver.stream.events()) == 3)
    assert driver.inspector.run.phase == "paused"
    driver.run_until(lambda: marks() == [False, False, True])
    driver.stream.select(1)
    assert note.isHidden()
    driver.stream.select(2)
    assert note.isVisible()
    assert note.text() == "Ran ahead: committed while the agent was held before it."
    row = model.stream_row(model.row_of_index(2))
    assert row_text(row).startswith("ran ahead: beside")
    assert note.text() in (cell_tooltip(row, Column.EVENT, "", None) or "")
    commands.run.trigger()
    driver.run_until(lambda: driver.inspector.run.phase == "idle")
    driver.run_until_idle()
    assert marks() == [False, False, True]

"""The window opens a capsule without the agent's code, and steps through what was recorded."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector_app.app import Inspector
from inspector_app.cli import main
from tests.gui.window.driver import WindowDriver

CLERK = Path(__file__).parents[2] / "data" / "evals" / "clerk"


@pytest.fixture
def capsule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    agent, database, file = tmp_path / "clerk", tmp_path / "a.db", tmp_path / "bug.capsule"
    shutil.copytree(CLERK, agent)
    words = ["run", str(agent), "--engine", "embedded", "--message", "Tell me the price", "--db", str(database), "--session", "s1"]
    assert main(words) == 0
    assert main(["capsule", str(database), str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["events"] == 4
    shutil.rmtree(agent)
    database.unlink()
    return file


def test_a_capsule_opens_and_is_replayed_and_stepped(
    capsule: Path, inspector: Inspector, driver: WindowDriver, opened: Callable[..., None]
) -> None:
    opened(capsule)
    assert inspector.cursor.session is not None and inspector.cursor.session.key.session_id == "s1"
    recorded = [event.content for event in driver.stream.events()]
    assert len(recorded) == 4
    commands = inspector.window.commands
    commands.new_session.trigger()
    driver.run_until_idle()
    driver.bench.parts.composer.set_text("Tell me the price")
    commands.step.trigger()
    driver.run_until_held()
    held = len(driver.stream.events())
    assert 0 < held < 4
    commands.step.trigger()
    driver.run_until(lambda: len(driver.stream.events()) == held + 1)
    driver.run_until_held()
    commands.run.trigger()
    driver.run_until(lambda: len(driver.stream.events()) == 4)
    driver.run_until_idle()
    assert [event.content for event in driver.stream.events()] == recorded
    assert inspector.cursor.session.key.session_id != "s1"

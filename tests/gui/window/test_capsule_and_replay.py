"""A session is exported as a capsule from its menu, and replayed with its recorded answers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from inspector_app.app import Inspector
from inspector_app.capsules.capsule_dialog import CapsuleDialog
from inspector_app.capsules.replay_dialog import ReplayDialog
from inspector_app.engines.engine_choice import EngineChoice
from inspector_app.exchange.capsule import Capsule, read_capsule
from tests.gui.window.driver import WindowDriver, text_of
from tests.gui.window.trusting import trust_folder

DATA = Path(__file__).parents[2] / "data" / "evals"
MESSAGES = ("my password: hunter22 Tell me the price", "Order chain")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DATA / "clerk", tmp_path / "clerk"))


@pytest.fixture
def clerk(inspector: Inspector, driver: WindowDriver, opened: Callable[..., None], folder: Path, tmp_path: Path) -> Inspector:
    """The window with the clerk on the embedded runtime, and a session of ten events with a password."""
    trust_folder(inspector, folder)
    inspector.agents._engine = EngineChoice("embedded")
    opened(tmp_path / "clerk.db", folder)
    for message in MESSAGES:
        driver.run_message(message)
    return inspector


def choose(driver: WindowDriver, text: str, row: int = 0) -> None:
    menu = driver.bench.parts.sessions.context_menu(driver.sessions.indexes("session")[row])
    assert menu is not None
    next(action for action in menu.actions() if action.text().startswith(text)).trigger()


def asked(driver: WindowDriver) -> CapsuleDialog:
    window = driver.inspector.window
    choose(driver, "Export as a capsule")
    driver.run_until(lambda: any("holds" in found.holds for found in window.findChildren(CapsuleDialog)))
    return next(found for found in window.findChildren(CapsuleDialog) if "holds" in found.holds)


def written(driver: WindowDriver, dialog: CapsuleDialog, out: Path) -> Capsule:
    driver.click(dialog, "capsule_write")
    files = driver.inspector.window.findChildren(QFileDialog)[-1]
    files.fileSelected.emit(str(out))
    files.close()
    driver.run_until(lambda: f"{out} was written" in driver.bench.parts.capsule_hint.text)
    return read_capsule(out)


def test_what_is_replaced_is_listed_and_can_be_kept(clerk: Inspector, driver: WindowDriver, tmp_path: Path) -> None:
    dialog = asked(driver)
    assert dialog.holds.startswith("The capsule holds 10 events, ")  # the recorder may still be writing the last requests
    (item,) = (dialog.places.topLevelItem(row) for row in range(dialog.places.topLevelItemCount()))
    assert item is not None
    assert (item.checkState(0), item.text(1)) == (Qt.CheckState.Checked, '"my password: (redacted) Tell me the price"')
    made = written(driver, dialog, tmp_path / "a.capsule")
    assert "hunter22" not in made.session
    assert len(made.about["replaced"]) == 1
    assert f"{tmp_path / 'a.capsule'} was written: 10 events" in driver.bench.parts.capsule_hint.text

    dialog = asked(driver)
    item = dialog.places.topLevelItem(0)
    assert item is not None
    item.setCheckState(0, Qt.CheckState.Unchecked)
    kept = written(driver, dialog, tmp_path / "b.capsule")
    assert "my password: hunter22 Tell me the price" in kept.session
    assert kept.about["replaced"] == []
    assert driver.bench.parts.capsule_hint.text.endswith(" kB. 1 place kept what looks like a secret.")

    dialog = asked(driver)
    dialog.first.setValue(5)
    driver.run_until(lambda: dialog.places.topLevelItemCount() == 0 and "holds 6 events" in dialog.holds)
    written(driver, dialog, tmp_path / "c.capsule")
    assert driver.bench.parts.capsule_hint.text.endswith(" kB. Nothing in it looked like a secret.")


def test_a_slice_and_a_test_are_written(clerk: Inspector, driver: WindowDriver, tmp_path: Path) -> None:
    dialog = asked(driver)
    dialog.first.setValue(5)
    driver.run_until(lambda: "holds 6 events" in dialog.holds)
    assert dialog.places.topLevelItemCount() == 0, "the password is in an event that is left out"
    dialog.test.setChecked(True)
    made = written(driver, dialog, tmp_path / "order bug.capsule")
    assert [event["author"] for event in made.events] == ["user", *["clerk"] * 5]
    assert {request["event_id"] for request in made.requests} <= {event["id"] for event in made.events}
    assert len(made.about["asked"]) == 3
    assert "test_order_bug.py beside it is a test for pytest. It was run once and passes." in driver.bench.parts.capsule_hint.text
    assert "check_capsule(HERE / 'order bug.capsule', AGENT" in (tmp_path / "test_order_bug.py").read_text("utf-8")


def test_a_session_is_replayed_without_its_model_and_compared(clerk: Inspector, driver: WindowDriver) -> None:
    before = [event.content for event in driver.stream.events()]
    first = clerk.cursor.session
    clerk.agents.loaded.app.root_agent.model.model = "gone"  # type: ignore[union-attr]
    choose(driver, "Replay with recorded")
    driver.click(clerk.window.findChildren(ReplayDialog)[-1], "replay_run")
    driver.run_until(lambda: "went as recorded" in driver.bench.parts.replay_hint.text)
    driver.run_until_idle()
    assert driver.bench.parts.replay_hint.text == "It went as recorded. 5 model answers and 3 tool results came from the recording."
    assert clerk.cursor.session != first
    assert [event.content for event in driver.stream.events()] == before
    driver.click(driver.bench.parts.replay_hint, "replay_hint_button")
    driver.run_until(lambda: clerk.window.page is clerk.window.parts.compare)
    assert text_of(clerk.window.parts.compare, "compare_count") == "No difference"


def test_a_replay_is_stepped(clerk: Inspector, driver: WindowDriver) -> None:
    choose(driver, "Replay with recorded")
    driver.click(clerk.window.findChildren(ReplayDialog)[-1], "replay_step")
    driver.run_until_held()
    held = len(driver.stream.events())
    assert 0 < held < 10
    clerk.window.commands.run.trigger()
    driver.run_until(lambda: "went as recorded" in driver.bench.parts.replay_hint.text)
    driver.run_until_idle()
    assert len(driver.stream.events()) == 10


def test_a_changed_agent_says_where_it_no_longer_matches_and_can_continue_live(
    clerk: Inspector, driver: WindowDriver, folder: Path, opened: Callable[..., None]
) -> None:
    code = (folder / "agent.py").read_text("utf-8")
    (folder / "agent.py").write_text(code.replace('"price": 3.2', '"price": 4.2'), "utf-8")
    opened(folder)
    choose(driver, "Replay with recorded")
    dialog = clerk.window.findChildren(ReplayDialog)[-1]
    dialog.runs_tools.setChecked(True)
    driver.click(dialog, "replay_run")
    driver.run_until(lambda: "No longer as recorded" in driver.bench.parts.replay_hint.text)
    driver.run_until_idle()
    assert driver.bench.parts.replay_hint.text.startswith(
        "No longer as recorded at model call 2: clerk committed another result price than was recorded: {'item': 'paper', 'price': 4.2}"
    )
    assert len(driver.stream.events()) < 10
    strict = clerk.cursor.session
    driver.click(driver.bench.parts.replay_hint, "replay_hint_other_button")
    driver.run_until(lambda: "From there on it was live" in driver.bench.parts.replay_hint.text)
    driver.run_until_idle()
    assert clerk.cursor.session != strict
    assert len(driver.stream.events()) == 10
    assert json.dumps(driver.stream.results("price")[0]) == '{"item": "paper", "price": 4.2}'

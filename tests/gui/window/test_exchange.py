"""Sessions are exported and imported from the session list, off the GUI thread, with a clear end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.exchange.eval_sets import read_eval_set
from inspector_app.sessions.export_job import ExportJob
from inspector_app.support.loop import InspectorLoop
from inspector_app.support.settings import Settings
from inspector_app.workspace.messages import MessageBus
from runtime.storage.reading.reader import StoredDatabase
from tests.gui.window.driver import WindowDriver


@pytest.fixture
def story_open(inspector: Inspector, story_db: Path, opened: Callable[..., None]) -> Inspector:
    opened(story_db)
    return inspector


def choose(driver: WindowDriver, kind: str, text: str) -> None:
    menu = driver.bench.parts.sessions.context_menu(driver.sessions.indexes(kind)[0])
    assert menu is not None
    next(action for action in menu.actions() if action.text().startswith(text)).trigger()


def dialog(inspector: Inspector) -> QFileDialog:
    (found,) = inspector.window.findChildren(QFileDialog)
    return found


def hint(driver: WindowDriver) -> str:
    return driver.bench.parts.exchange_hint.text


def contents(file: Path) -> dict[object, list[str]]:
    with StoredDatabase.open(str(file)) as database:
        return {summary.key: [event.model_dump_json() for event in database.events(summary.key)] for summary in database.sessions()}


def test_a_session_is_exported_and_imported_into_a_new_database(
    story_open: Inspector, story_db: Path, driver: WindowDriver, qtbot: QtBot, tmp_path: Path
) -> None:
    key = driver.inspector.features.sessions.model.node(driver.sessions.indexes("session")[0]).session
    out, new = tmp_path / "story.html", tmp_path / "new.db"
    choose(driver, "session", "Export the session…")
    asked = dialog(story_open)
    assert asked.selectedFiles()[0].endswith(".html")
    asked.fileSelected.emit(str(out))
    asked.close()
    qtbot.waitUntil(lambda: " exported to " in hint(driver))
    assert out.read_text("utf-8").startswith("<!DOCTYPE html>")
    assert driver.bench.parts.exchange_hint.button.text() == "Open"

    story_open.window.commands.import_sessions.trigger()
    dialog(story_open).fileSelected.emit(str(out))
    # The story's database is Agent Inspector's own, so it may be written, but it has the session.
    driver.run_until_idle()
    assert "already has the session" in driver.log_text()

    reads = story_open.features.sessions.exchange
    reads.import_file(str(out), "")
    qtbot.waitUntil(lambda: hint(driver).startswith("Choose the new database"))
    next(each for each in story_open.window.findChildren(QFileDialog) if "new database" in each.windowTitle()).fileSelected.emit(str(new))
    qtbot.waitUntil(lambda: f"into {new.name}." in hint(driver))
    driver.run_until_idle()
    assert story_open.cursor.session is not None and story_open.cursor.session.database == str(new)
    assert list(contents(new)) == [key]
    assert contents(new)[key] == contents(story_db)[key]


def test_a_cancelled_export_writes_no_file(
    story_open: Inspector, driver: WindowDriver, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_continue = threading.Event()
    write = ExportJob.write_stored

    def held(job: ExportJob, *given: object) -> None:
        may_continue.wait(10)
        write(job, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(ExportJob, "write_stored", held)
    node = driver.inspector.features.sessions.model.node(driver.sessions.indexes("session")[0])
    assert node.session is not None
    story_open.features.sessions.exchange.export(node.database, [node.session], tmp_path / "a.md", "md")
    qtbot.waitUntil(lambda: driver.bench.parts.exchange_hint.button.text() == "Cancel" and hint(driver).startswith("Exporting"))
    driver.bench.parts.exchange_hint.button.click()
    may_continue.set()
    qtbot.waitUntil(lambda: hint(driver) == "The export was cancelled. No file was written.")
    assert list(tmp_path.glob("a.md*")) == []


@pytest.fixture
def huge(tmp_path: Path) -> str:
    """Return a file that takes seconds to read."""
    file = tmp_path / "huge.jsonl"
    head = b'{"session": {"id": "s", "app_name": "a", "user_id": "u"}}\n'
    file.write_bytes(head + b"".join(b'{"id":"e%d","timestamp":1,"author":"user"}\n' % number for number in range(70_000)))
    return str(file)


def test_an_import_is_cancelled(story_open: Inspector, story_db: Path, driver: WindowDriver, qtbot: QtBot, huge: str) -> None:
    before = contents(story_db)
    story_open.features.sessions.exchange.import_file(huge, str(story_db))
    qtbot.waitUntil(lambda: hint(driver) == "Reading huge.jsonl")
    (reading,) = (task for task in story_open.tasks.running if "huge" in task.get_name())
    story_open.features.sessions.exchange.import_file(huge, str(story_db))
    assert "An import is in progress. Wait for its end, or cancel it." in driver.log_text()
    driver.bench.parts.exchange_hint.button.click()
    qtbot.waitUntil(reading.cancelled, timeout=1_000)
    driver.run_until_idle()
    assert (hint(driver), contents(story_db)) == ("", before)


def test_a_window_that_reads_an_import_closes_at_once(
    running: InspectorLoop, qapp: QApplication, settings: Settings, qtbot: QtBot, huge: str
) -> None:
    again = Inspector(qapp, settings, MessageBus())
    again.show((1280, 800))
    again.features.sessions.exchange.import_file(huge, "")
    qtbot.waitUntil(lambda: again.window.parts.exchange_hint.text == "Reading huge.jsonl")
    (reading,) = (task for task in again.tasks.running if "huge" in task.get_name())
    with qtbot.waitSignal(again.closed, timeout=10_000):
        again.window.close()
    assert reading.cancelled()


def test_a_session_becomes_a_case_of_an_eval_set(story_open: Inspector, driver: WindowDriver, qtbot: QtBot, tmp_path: Path) -> None:
    file = tmp_path / "stories.evalset.json"
    for case in ("story-1", "story-1 2"):
        choose(driver, "session", "Add to an eval set…")
        next(each for each in story_open.window.findChildren(QFileDialog) if each.isVisible()).fileSelected.emit(str(file))
        qtbot.waitUntil(lambda case=case: hint(driver) == f"Case {case} was added to {file}.")  # type: ignore[misc]
        for asked in story_open.window.findChildren(QFileDialog):
            asked.close()
        driver.run_until_idle()
    cases = read_eval_set(file).cases
    assert [case.id for case in cases] == ["story-1", "story-1 2"]
    assert cases[0].turns[0].message.parts


def test_a_written_eval_set_is_opened_in_the_window_under_any_name(story_open: Inspector, driver: WindowDriver, tmp_path: Path) -> None:
    exchange, window = story_open.features.sessions.exchange, story_open.window
    shown = story_open.cursor.session
    assert shown is not None
    page = window.parts.evals
    added, exported = tmp_path / "added.json", tmp_path / "exported.evalset.json"
    for write, file in (
        (lambda: exchange.add_case(shown.database, shown.key, added), added),
        (lambda: exchange.export(shown.database, [shown.key], exported, "evalset"), exported),
    ):
        write()
        driver.run_until(lambda file=file: str(file) in hint(driver))
        driver.run_until_idle()
        driver.bench.parts.exchange_hint.button.click()
        driver.run_until(lambda: window.page is page)
        driver.run_until_idle()
        assert [row[:2] for row in page.rows()] == [("story-1", "not run")]
        page.head.close_button.click()
        driver.run_until(lambda: window.page is window.workbench)

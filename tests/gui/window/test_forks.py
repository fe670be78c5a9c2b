"""Forks: plain, with an edited message, re-run from a recording, with a changed result; and their place in the session list."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QPushButton, QTreeWidget
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.demo import STORY
from inspector_app.presentation.event_summary import text_of
from inspector_app.resources.samples.orders.script import order_script
from inspector_app.resources.samples.story import script
from runtime.agents.llm_agent import LlmAgent
from runtime.events.event import Event
from runtime.events.marks import EDITED
from runtime.models.base_llm import BaseLlm
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import copy_of, manifest
from tests.gui.window.driver import WindowDriver
from tests.gui.window.stored_sessions import event_ids


class Counting(BaseLlm):
    """A model that counts the calls of another model."""

    inner: BaseLlm
    calls: int = 0

    async def generate_content_async(self, llm_request, stream=False):  # type: ignore[no-untyped-def]
        self.calls += 1
        async for answer in self.inner.generate_content_async(llm_request, stream):
            yield answer


@pytest.fixture
def counted(story: Inspector) -> tuple[Inspector, Counting]:
    assert story.agents.loaded is not None
    model = Counting(model="counting", inner=script.story_script(delay=0))
    for agent in story.agents.loaded.app.root_agent.descendants():
        if isinstance(agent, LlmAgent):
            agent.model = model
    return story, model


def test_a_fork_made_by_keyboard_is_listed_below_its_unchanged_parent(story: Inspector, story_db: Path, driver: WindowDriver) -> None:
    original = story.cursor.session
    assert original is not None
    before = event_ids(story_db, original.key)
    driver.fork.ask(4)
    assert story.window.parts.fork_card.title == "Fork at event 5?"
    assert (
        event_ids(story_db, original.key) == before
        and len(story.features.sessions.model.node(story.features.sessions.model.index(0, 0)).children) == 1
    )
    driver.fork.choose("fork")
    fork = driver.fork.wait(original)
    assert fork.database == original.database
    assert event_ids(story_db, fork.key) == before[:5] and event_ids(story_db, original.key) == before
    assert story.features.stream.events.event_count == 5
    tree = story.features.sessions.model
    node = tree.node(tree.index_of(fork.database, fork.key))
    assert node.parent is tree.node(tree.index_of(original.database, original.key)), "nested below its parent"
    title = "Write a story about the keeper of the north light (fork at 5)"
    driver.qtbot.waitUntil(lambda: node.name == title)
    waiting = story.window.findChild(QTreeWidget, "pending_list")
    assert f"{title} · story.db" in [waiting.topLevelItem(row).text(1) for row in range(waiting.topLevelItemCount())]
    assert "Fork of session" in tree.index_of(fork.database, fork.key).data(Qt.ItemDataRole.ToolTipRole)
    assert story.window.parts.sessions.tree.isExpanded(tree.index_of(original.database, original.key))


def test_fork_and_edit_the_message(story: Inspector, story_db: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    original = story.cursor.session
    assert original is not None
    before = event_ids(story_db, original.key)
    bench = story.window.workbench
    driver.fork.ask(6)
    driver.fork.choose("edit")
    assert bench.parts.composer.text == "Write a story about the keeper of the north light"
    assert "begins a fork" in bench.parts.fork_hint.text
    assert story.cursor.session == original and event_ids(story_db, original.key) == before, "no fork is made before the message is sent"
    edit = bench.parts.composer.findChild(QPlainTextEdit, "composer_edit")
    edit.setPlainText("Write a story about a ferry that never sailed")
    with qtbot.waitSignal(story.run.run_ended, timeout=30_000) as ended:
        qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert ended.args[0].error is None
    fork = story.cursor.session
    assert fork is not None and fork != original and bench.parts.fork_hint.text == ""
    assert event_ids(story_db, original.key) == before
    first = story.features.stream.events.committed(0)
    assert first.content is not None and first.content.parts is not None and "ferry" in (first.content.parts[0].text or "")
    tree = story.features.sessions.model
    node = tree.node(tree.index_of(fork.database, fork.key))
    assert node.parent is tree.node(tree.index_of(original.database, original.key))
    assert node.pieces[1].startswith('edited: "Write a story about a ferry')
    tooltip = tree.index_of(fork.database, fork.key).data(Qt.ItemDataRole.ToolTipRole)
    assert "north light" in tooltip and "ferry" in tooltip


def test_cancelling_an_edited_message_makes_no_fork(story: Inspector, story_db: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    bench = story.window.workbench
    driver.fork.ask(6)
    driver.fork.choose("edit")
    qtbot.mouseClick(bench.parts.fork_hint.button, Qt.MouseButton.LeftButton)
    assert bench.parts.composer.text == "" and bench.parts.fork_hint.text == ""
    with StoredDatabase.open(str(story_db)) as stored:
        assert len(stored.sessions()) == 1


@pytest.mark.parametrize(("written", "stays"), [("", ""), (" now", "Write a story about the keeper of the north light now")])
def test_an_unedited_message_is_cleared_when_its_fork_is_abandoned(
    story: Inspector, written: str, stays: str, driver: WindowDriver, qtbot: QtBot
) -> None:
    original, bench = story.cursor.session, story.window.workbench
    driver.fork.ask(6)
    driver.fork.choose("edit")
    edit = bench.parts.composer.findChild(QPlainTextEdit, "composer_edit")
    edit.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(edit, written)
    driver.fork.ask(6)
    driver.fork.choose("fork")
    qtbot.waitUntil(lambda: story.cursor.session != original and not story.tasks.running, timeout=10_000)
    assert bench.parts.composer.text == ""
    story.cursor.select_session(original)
    assert bench.parts.composer.text == stays, "it was written under this session"


def test_a_rerun_makes_no_model_call_before_the_event(
    counted: tuple[Inspector, Counting], story_db: Path, driver: WindowDriver, qtbot: QtBot
) -> None:
    story, model = counted
    original = story.cursor.session
    assert original is not None
    before = event_ids(story_db, original.key)
    last = story.features.stream.events.event_count - 1
    said = [story.features.stream.events.committed(index) for index in range(last + 1)]
    recorded = [event for event in said if event.author not in ("user", "StoryFlow") and event.content]
    driver.fork.ask(last)
    rerun = story.window.parts.fork_card.button("rerun")
    assert rerun is not None and f"({len(recorded)} model calls saved)" in rerun.text()
    calls_at: list[int] = []

    def on_added(*_: object) -> None:
        if story.features.stream.events.event_count == len(said):
            calls_at.append(model.calls)

    story.features.stream.events.events_appended.connect(on_added)
    with qtbot.waitSignal(story.run.run_ended, timeout=30_000) as ended:
        driver.fork.choose("rerun")
    assert ended.args[0].error is None
    fork = story.cursor.session
    assert fork is not None and fork != original and event_ids(story_db, original.key) == before
    shown = [story.features.stream.events.committed(index) for index in range(story.features.stream.events.event_count)]
    assert [event.content for event in shown[: len(said)] if event.content] == [event.content for event in said if event.content]
    live = [event for event in shown[len(said) :] if event.author not in ("user", "StoryFlow") and event.content]
    assert model.calls == len(live) > 0, "only calls after the event reach the model"
    assert any(f"{len(recorded)} model calls" in message.text for message in story.window.message_bar.messages)


def test_a_foreign_session_is_forked_into_a_file_beside_its_database(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], driver: WindowDriver
) -> None:
    name = next(entry["file"] for entry in manifest() if entry["layout"] == "v1" and entry["scenario"] == "chat_tools")
    original = copy_of(f"open/{name}", tmp_path)
    digest = hashlib.sha256(original.read_bytes()).hexdigest()
    opened(original)
    address = inspector.cursor.session
    assert address is not None
    driver.fork.ask(2)
    rerun = inspector.window.parts.fork_card.button("rerun")
    assert rerun is not None and not rerun.isEnabled() and "open the agent" in rerun.toolTip()
    driver.fork.choose("fork")
    fork = driver.fork.wait(address)
    assert fork.database == str(original.with_name(f"{original.stem}-forks.db"))
    assert inspector.features.stream.events.event_count == 3
    assert hashlib.sha256(original.read_bytes()).hexdigest() == digest


def test_the_context_menu_forks_at_the_event(story: Inspector, qtbot: QtBot) -> None:
    stream = story.window.parts.stream
    row = story.features.stream.events.row_of_index(3)
    assert row is not None
    menu = stream.context_menu(row)
    assert menu is not None
    next(action for action in menu.actions() if action.text().startswith("Fork at this event")).trigger()
    qtbot.waitUntil(lambda: story.window.parts.fork_card.title == "Fork at event 4?")
    qtbot.keyClick(story.window.parts.fork_card, Qt.Key.Key_Escape)
    assert story.window.parts.fork_card.title == ""


def event_place(inspector: Inspector, wanted: Callable[[Event], bool]) -> int:
    events = inspector.features.stream.events
    return next(index for index in range(events.event_count) if wanted(events.committed(index)))


def write_another(inspector: Inspector, text: str) -> None:
    edit = inspector.window.parts.override_card.findChild(QPlainTextEdit, "override_editor")
    edit.setPlainText(text)


def test_a_fork_with_another_tool_result(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], driver: WindowDriver, qtbot: QtBot
) -> None:
    opened(STORY.parent / "orders")
    assert inspector.agents.loaded is not None
    inspector.agents.loaded.app.root_agent.model = order_script(delay=0)  # type: ignore[attr-defined]
    bench = inspector.window.workbench
    with qtbot.waitSignal(inspector.run.run_ended, timeout=30_000):
        bench.parts.composer.set_text("a desk lamp")
        inspector.window.commands.run.trigger()
    original = inspector.cursor.session
    assert original is not None
    place = event_place(inspector, lambda event: any(each.name == "find_product" for each in event.get_function_responses()))
    driver.fork.ask(place)
    button = bench.parts.fork_card.button("override")
    assert button is not None and button.text() == "Change this result…"
    driver.fork.choose("override")
    assert "the result of find_product" in bench.parts.override_card.title
    submit = bench.parts.override_card.findChild(QPushButton, "override_submit")
    assert not submit.isEnabled() and "Nothing is changed yet" in submit.toolTip()
    write_another(inspector, '{"products": [')
    assert not submit.isEnabled() and "Line 1" in submit.toolTip()
    write_another(inspector, '{"products": []}')
    edit = bench.parts.override_card.findChild(QPlainTextEdit, "override_editor")
    with qtbot.waitSignal(inspector.run.run_ended, timeout=30_000) as ended:
        qtbot.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert ended.args[0].error is None
    fork = inspector.cursor.session
    assert fork is not None and fork != original
    result = inspector.features.stream.events.committed(place)
    assert result.get_function_responses()[0].response == {"products": []}
    assert inspector.features.stream.events.event_count > place + 1, "later calls are live"
    # The change is shown in the session list and above the fork's events.
    tree = inspector.features.sessions.model
    assert tree.node(tree.index_of(fork.database, fork.key)).pieces[1] == "result: {products: []}"
    assert bench.parts.origin_hint.text.startswith(
        f"Fork of “{inspector.work.titles.title(original)}”, run again with another result: {{products: ["
    )
    assert bench.parts.origin_hint.text.endswith("→ {products: []}")
    qtbot.mouseClick(bench.parts.origin_hint.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: inspector.window.page is inspector.window.parts.compare, timeout=10_000)
    page = inspector.window.parts.compare
    assert page.model.places(page.table.currentIndex().row()) == (place, place), "the first difference"
    page.left.emit()
    qtbot.mouseClick(bench.parts.origin_hint.other_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: inspector.cursor.session == original and not inspector.tasks.running, timeout=10_000)
    assert bench.parts.origin_hint.text == "", "the parent is not a fork"


def test_a_fork_with_another_model_answer(counted: tuple[Inspector, Counting], driver: WindowDriver, qtbot: QtBot) -> None:
    story, _ = counted
    original = story.cursor.session
    place = event_place(story, lambda event: event.author == "Critic" and event.content is not None)
    driver.fork.ask(place)
    driver.fork.choose("override")
    write_another(story, "It is far too short.")
    with qtbot.waitSignal(story.run.run_ended, timeout=30_000) as ended:
        qtbot.mouseClick(story.window.parts.override_card.findChild(QPushButton, "override_submit"), Qt.MouseButton.LeftButton)
    assert ended.args[0].error is None and story.cursor.session != original
    shown = [story.features.stream.events.committed(index) for index in range(story.features.stream.events.event_count)]
    said = next(event for event in shown if event.author == "Critic" and event.content)
    assert text_of(said) == "It is far too short." and said.custom_metadata is not None and EDITED in said.custom_metadata
    assert 'another answer: "' in story.window.parts.origin_hint.text


def test_escape_cancels_changing_an_answer(story: Inspector, story_db: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    bench = story.window.workbench
    driver.fork.ask(event_place(story, lambda event: event.author == "Critic" and event.content is not None))
    driver.fork.choose("override")
    qtbot.keyClick(bench.parts.override_card, Qt.Key.Key_Escape)
    assert bench.parts.override_card.title == "" and bench.parts.stream.table.hasFocus()
    with StoredDatabase.open(str(story_db)) as stored:
        assert len(stored.sessions()) == 1


def test_a_checkpoint_offers_nothing_to_change(story: Inspector, driver: WindowDriver) -> None:
    driver.fork.ask(event_place(story, lambda event: event.actions.agent_state is not None))
    assert story.window.parts.fork_card.button("override") is None


def test_a_rerun_disabled_during_a_run_is_enabled_afterwards(story: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    story.run.resume(paused=True)
    qtbot.waitUntil(lambda: story.run.phase == "paused", timeout=10_000)
    driver.fork.ask(3)
    rerun = story.window.parts.fork_card.button("rerun")
    assert rerun is not None and not rerun.isEnabled()
    with qtbot.waitSignal(story.run.run_ended, timeout=30_000):
        story.run.continue_run()

    def is_free() -> bool:
        button = story.window.parts.fork_card.button("rerun")
        return button is not None and button.isEnabled()

    qtbot.waitUntil(is_free, timeout=10_000)

"""The interrupted story sample: open it, press Resume, and watch it finish."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QInputDialog, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.stream.event_cells import Column
from tests.gui.window.driver import WindowDriver
from tests.gui.window.stored_sessions import event_ids


def test_an_interrupted_session_offers_resume(story: Inspector) -> None:
    bench = story.window.workbench
    assert story.cursor.session is not None
    assert story.cursor.event_index == story.features.stream.events.event_count - 1
    assert "Interrupted after event 10. Resume continues" in bench.parts.resume_hint.text
    assert bench.parts.resume_hint.button.isEnabled()
    assert story.window.commands.resume.isEnabled()
    assert bench.parts.resume_hint.button.property("primary") is True
    assert not story.window.run_bar.button("action_resume").property("primary"), "the banner carries it"
    assert story.window.run_bar.state_text == "interrupted"
    assert not story.window.commands.pause.isEnabled()
    assert "Nothing is running" in story.window.commands.pause.toolTip()


def test_the_streams_delta_counts_match_the_delta_table(story: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    bench, events = story.window.workbench, story.features.stream.events

    def badges_and_deltas() -> tuple[list[str], list[str]]:
        badges, deltas = [], []
        for index in range(events.event_count):
            bench.parts.stream.select_event(index)
            badges.append(events.index(events.row_of_index(index) or 0, Column.DELTA).data())
            changed = bench.parts.detail.delta.model.rowCount()
            deltas.append(f"Δ{changed}" if changed else "")
        return badges, deltas

    badges, deltas = badges_and_deltas()
    assert badges == deltas and badges[9] == "Δ3", "the last event also set temp:growth"
    story.window.commands.resume.trigger()
    driver.preflight.accept()
    qtbot.waitUntil(lambda: story.run.phase == "idle" and not story.tasks.running, timeout=20_000)
    badges, deltas = badges_and_deltas()
    assert badges == deltas and len(badges) > 20


def test_the_go_to_event_dialog_orders_its_buttons_like_other_dialogs(story: Inspector, qtbot: QtBot) -> None:
    story.window.commands.go_to_event.trigger()
    dialog = story.window.findChild(QInputDialog, "go_to_event")
    buttons = sorted((button for button in dialog.findChildren(QPushButton) if button.isVisible()), key=lambda button: button.x())
    assert [(button.text().replace("&", ""), bool(button.property("primary"))) for button in buttons] == [("Cancel", False), ("Go", True)]
    dialog.reject()


def test_the_hint_names_what_resume_needs(inspector: Inspector, story_db: Path, opened: Callable[..., None]) -> None:
    opened(story_db)
    assert "open the agent of story" in inspector.window.parts.resume_hint.text
    assert not inspector.window.parts.resume_hint.button.isEnabled()


def test_resume_streams_new_events_until_the_invocation_ends(story: Inspector, story_db: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    window, events = story.window, story.features.stream.events
    before = events.event_count
    lanes = driver.state.values()
    lengths: list[int] = []
    seen_lanes: list[dict[str, str]] = []

    def on_appended(*_: Any) -> None:
        lengths.append(events.event_count)

    def on_state(*_: Any) -> None:
        seen_lanes.append(driver.state.values())

    events.events_appended.connect(on_appended)
    story.current.state_computed.connect(on_state)
    with qtbot.waitSignal(story.run.run_ended, timeout=30_000) as ended:
        qtbot.mouseClick(window.run_bar.button("action_resume"), Qt.MouseButton.LeftButton)
        driver.preflight.accept()

    assert ended.args[0].error is None
    assert len(lengths) > 3, "the events arrived during the run"
    assert events.event_count > before
    assert [events.committed(index).id for index in range(events.event_count)] == event_ids(story_db, story.cursor.session.key)
    assert story.cursor.event_index == events.event_count - 1, "the newest event is followed"
    assert driver.state.values() != lanes and "grammar_suggestions" in driver.state.values()
    assert len({str(shown) for shown in seen_lanes}) > 3, "the lanes changed during the run"
    assert story.current.session is not None
    assert [entry.status for entry in story.current.session.invocations] == ["finished"]
    assert window.parts.resume_hint.text == ""
    assert not window.commands.resume.isEnabled()
    assert "Nothing was interrupted" in window.commands.resume.toolTip()
    assert window.parts.pending.rows == []
    assert window.run_bar.state_text == "idle"


def test_temp_state_of_a_live_run_is_shown(story: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    with qtbot.waitSignal(story.run.run_ended, timeout=30_000):
        story.window.commands.resume.trigger()
        driver.preflight.accept()
    assert "temp:growth" in driver.state.values()


def test_the_pending_pane_offers_the_same_resume(story: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    pane = story.window.parts.pending
    assert [row.item.kind for row in pane.rows] == ["interrupted"]
    button = pane.findChild(QPushButton, "pending_resume")
    with qtbot.waitSignal(story.run.run_ended, timeout=30_000):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        driver.preflight.accept()
    assert pane.rows == []


def test_while_the_card_asks_its_button_alone_resumes(story: Inspector, driver: WindowDriver) -> None:
    story.window.commands.resume.trigger()
    driver.run_until(lambda: driver.bench.parts.preflight.shown)
    buttons = [button for button in story.window.findChildren(QAbstractButton) if button.isVisible() and "Resume" in button.text()]
    assert [button.objectName() for button in buttons if button.isEnabled()] == ["preflight_resume"]
    assert [button.objectName() for button in buttons if button.property("primary")] == ["preflight_resume"]
    assert "Answer the question below the events first." in story.window.commands.resume.toolTip()
    driver.qtbot.keyClick(driver.bench.parts.preflight, Qt.Key.Key_Escape)
    assert story.window.commands.resume.isEnabled() and driver.bench.parts.pending.form.findChild(QPushButton, "pending_resume").isEnabled()


def test_step_holds_the_agent_at_each_event(story: Inspector, story_db: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    window, events, run = story.window, story.features.stream.events, story.run
    step: QToolButton = window.run_bar.button("action_step")
    for number in range(6):
        count = events.event_count
        qtbot.waitUntil(step.isEnabled)
        qtbot.mouseClick(step, Qt.MouseButton.LeftButton)
        if number == 0:
            driver.preflight.accept()
        qtbot.waitUntil(lambda: run.phase == "paused")
        held = run.held
        assert held is not None
        assert events.event_count == count + 1, "exactly one event"
        assert events.committed(events.event_count - 1).id == held.id
        assert event_ids(story_db, story.cursor.session.key)[-1] == held.id, "committed, and nothing after it"
        assert window.run_bar.state_text == f"held at {events.event_count}"
        assert story.cursor.event_index == events.event_count - 1
        assert window.commands.run.text() == "Continue"
        assert not window.commands.pause.isEnabled()
    with qtbot.waitSignal(run.run_ended, timeout=30_000) as ended:
        qtbot.keyClick(window, Qt.Key.Key_F5)
    assert ended.args[0].error is None


def test_a_stopped_held_run_is_interrupted_and_resumable(story: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    story.window.commands.step.trigger()
    driver.preflight.accept()
    qtbot.waitUntil(lambda: story.run.phase == "paused")
    with qtbot.waitSignal(story.run.run_ended, timeout=10_000) as ended:
        story.window.commands.stop.trigger()
    assert ended.args[0].stopped
    assert story.window.commands.resume.isEnabled()
    assert "Stopped after event" in story.window.parts.resume_hint.text


def test_a_held_run_is_still_held_when_its_session_is_selected_again(story: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    story.window.commands.step.trigger()
    driver.preflight.accept()
    qtbot.waitUntil(lambda: story.run.phase == "paused")
    address, count = story.cursor.session, story.features.stream.events.event_count
    story.cursor.select_session(None)
    assert story.window.run_bar.state_text == "held"
    story.cursor.select_session(address)
    qtbot.waitUntil(lambda: story.features.stream.events.event_count == count)
    assert story.window.run_bar.state_text == f"held at {count}"
    assert story.window.parts.resume_hint.text == ""
    assert story.window.parts.pending.rows == []
    with qtbot.waitSignal(story.run.run_ended, timeout=30_000):
        story.window.commands.run.trigger()
    assert story.current.session is not None
    assert [entry.status for entry in story.current.session.invocations] == ["finished"]
    assert story.features.stream.events.event_count > count


def test_the_preflight_lists_the_effects_and_nothing_runs_before_enter(
    story: Inspector, story_db: Path, driver: WindowDriver, qtbot: QtBot
) -> None:
    before = event_ids(story_db, story.cursor.session.key)
    qtbot.keyClick(story.window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    shown = driver.preflight.read()
    card = story.window.parts.preflight
    assert shown.title.startswith("Resume ") and shown.title.endswith("from the checkpoint at 9?")
    assert "StoryFlow continues from its checkpoint" in shown.lines[0].text
    assert not shown.warns and not shown.blocked, "nothing runs again: the card is not urgent"
    assert any("temp:growth" in line.text and "Lost" in line.text for line in shown.lines)
    assert story.window.parts.resume_hint.text == "", "only one offer at a time"
    assert event_ids(story_db, story.cursor.session.key) == before and story.run.phase == "idle"
    qtbot.keyClick(card, Qt.Key.Key_Escape)
    assert card.shown is None and "Interrupted" in story.window.parts.resume_hint.text
    assert event_ids(story_db, story.cursor.session.key) == before
    assert story.run.phase == "idle"


def test_the_preflight_of_a_long_session_lists_lost_temp_keys(
    monkeypatch: pytest.MonkeyPatch, story_db: Path, request: pytest.FixtureRequest, driver: WindowDriver
) -> None:
    monkeypatch.setattr("inspector_app.documents.sources.LONG", 2)
    story: Inspector = request.getfixturevalue("story")
    assert story.current.session is not None and story.current.session.pages is not None
    story.window.commands.resume.trigger()
    assert any("temp:growth" in line.text and "Lost" in line.text for line in driver.preflight.read().lines)


def test_the_preflight_closes_with_its_session(story: Inspector, driver: WindowDriver) -> None:
    story.window.commands.resume.trigger()
    driver.preflight.read()
    story.cursor.select_session(None)
    assert story.window.parts.preflight.shown is None

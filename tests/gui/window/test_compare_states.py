"""The comparison of the states after two events."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from bench.generated import write_database
from inspector_app.app import Inspector
from inspector_app.state.delta import CHANGE_ROLE
from runtime.sessions.state import Change


def changes(inspector: Inspector) -> dict[str, tuple[object, object]]:
    model = inspector.window.parts.detail.delta.model
    found: list[Change] = [model.index(row, 0).data(CHANGE_ROLE) for row in range(model.rowCount())]
    return {change.key: (change.before, change.after) for change in found}


def select(inspector: Inspector, qtbot: QtBot, index: int) -> None:
    inspector.window.parts.stream.select_event(index)
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)


def states(inspector: Inspector, *indices: int) -> list[dict[str, object]]:
    session = inspector.current.session
    assert session is not None and session.history is not None
    found = [session.history.state_at(index) for index in indices]
    return [{**state.merged(), **state.temp} for state in found]


def test_the_differences_between_two_states_are_shown_until_the_comparison_ends(
    inspector: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(story_db)
    last = inspector.features.stream.events.event_count - 1
    select(inspector, qtbot, 0)
    inspector.window.commands.compare_states.trigger()
    select(inspector, qtbot, last)
    before, after = states(inspector, 0, last)
    assert changes(inspector) == {
        key: (before.get(key), after.get(key)) for key in before.keys() | after.keys() if before.get(key) != after.get(key)
    }
    assert len(changes(inspector)) > 1
    end = inspector.window.findChild(QPushButton, "comparing_button")
    assert end.isVisible()
    end.click()
    assert not end.isVisible()
    assert changes(inspector).keys() - {"temp:growth"} == inspector.features.stream.events.committed(last).actions.state_delta.keys()


def test_states_are_compared_in_a_long_session(inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot) -> None:
    write_database(tmp_path / "long.db", 3_000)
    opened(tmp_path / "long.db")
    select(inspector, qtbot, 1_000)
    inspector.window.commands.compare_states.trigger()
    select(inspector, qtbot, 1_020)
    assert changes(inspector)["step"] == (1_000, 1_020)
    inspector.window.commands.compare_states.trigger()
    inspector.window.commands.compare_states.trigger()
    select(inspector, qtbot, 1_020)
    assert changes(inspector)["step"] == (1_019, 1_020)

"""The controller of forks with the real cards."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from inspector_app.branches.fork_controller import ForkController
from inspector_app.branches.override_card import OverrideCard
from inspector_app.documents.session_address import SessionAddress
from inspector_app.widgets.decision_card import DecisionCard
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.workspace.cursor import Cursor
from runtime.sessions.session import SessionKey
from tests.gui.events import said
from tests.gui.fake_owners import Events, FakeCurrent, FakeRun, FakeSession, fake_workspace
from tests.unit.inspector_app.workspace.fakes import FakeSource, FakeTasks

HERE, OTHER, MADE = (SessionAddress("story.db", SessionKey("story", "u", name)) for name in ("s", "other", "made"))


@dataclass
class Scene:
    """A controller with its fake owners and its real widgets."""

    cursor: Cursor
    current: FakeCurrent
    run: FakeRun
    tasks: FakeTasks
    card: DecisionCard
    hint: HintBar
    controller: ForkController
    qtbot: QtBot
    forks: list[Any]

    def show(self, **source: bool) -> None:
        """Display a session with one question and its answer."""
        events = Events([said("tell", author="user", id="a"), said("once", id="b")])
        self.cursor.select_session(HERE)
        self.current.show(FakeSession(HERE, events, FakeSource(**source)))  # type: ignore[arg-type]

    def ask(self, index: int) -> None:
        self.cursor.select_event(index)
        self.controller.ask_at_selected()
        asyncio.run(self.tasks.run_all())

    def facts(self) -> str:
        return "\n".join(label.text() for label in self.card.findChildren(QLabel))

    def is_offered(self, choice: str) -> bool:
        button = self.card.button(choice)
        return button is not None and button.isEnabled()

    def choose(self, choice: str) -> None:
        button = self.card.button(choice)
        assert button is not None and button.isEnabled()
        self.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


@pytest.fixture
def scene(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Scene:
    cursor, current, run, tasks = Cursor(), FakeCurrent(), FakeRun(), FakeTasks()
    card, override_card, hint = DecisionCard("fork", "What forking will do"), OverrideCard(), HintBar("fork_hint")
    for widget in (card, override_card, hint):
        qtbot.addWidget(widget)
    controller = ForkController(fake_workspace(cursor=cursor, current=current, run=run, tasks=tasks), card, override_card, hint)
    forks: list[Any] = []

    async def fork(_session: Any, cut: Any) -> SessionAddress:
        forks.append(cut)
        return MADE

    monkeypatch.setattr(controller, "fork", fork)
    return Scene(cursor, current, run, tasks, card, hint, controller, qtbot, forks)


def test_the_card_asks_what_to_do_at_the_selected_event(scene: Scene) -> None:
    scene.show()
    with scene.qtbot.waitSignal(scene.controller.asked):
        scene.ask(1)
    assert scene.card.title == "Fork at event 2?"
    assert "The fork is created in story.db." in scene.facts()
    assert all(map(scene.is_offered, ("fork", "edit", "rerun")))
    assert scene.forks == []


def test_a_fork_of_a_read_only_database_is_made_beside_it(scene: Scene) -> None:
    scene.show(writing_allowed=False)
    scene.ask(1)
    assert "story.db is read-only, so the fork is created in story-forks.db." in scene.facts()


def test_an_agent_that_cannot_run_leaves_the_plain_fork(scene: Scene) -> None:
    scene.run.reason = "Open the agent first."
    scene.show()
    scene.ask(1)
    assert list(map(scene.is_offered, ("fork", "edit", "rerun"))) == [True, False, False]


def test_a_plain_fork_ends_with_the_event(scene: Scene) -> None:
    scene.show()
    scene.ask(1)
    scene.choose("fork")
    asyncio.run(scene.tasks.run_all())
    assert [cut.at for cut in scene.forks] == ["b"]


def test_the_next_message_begins_the_fork_when_the_message_is_edited(scene: Scene) -> None:
    scene.show()
    scene.ask(1)
    with scene.qtbot.waitSignal(scene.controller.draft_begun) as begun:
        scene.choose("edit")
    assert begun.args == ["tell"]
    assert scene.controller.is_drafting and scene.hint.text.startswith("Edit and send the message.")
    assert scene.controller.take_message("tell more", True)
    asyncio.run(scene.tasks.run_all())
    assert [(cut.before, cut.changed.after) for cut in scene.forks] == [("a", "tell more")]
    assert scene.run.calls == [("send", "tell more", True, MADE)]
    assert not scene.controller.take_message("and more", False), "only one message begins the fork"


def test_a_cancelled_draft_makes_no_fork(scene: Scene) -> None:
    scene.show()
    scene.ask(1)
    scene.choose("edit")
    with scene.qtbot.waitSignal(scene.controller.draft_cancelled):
        scene.hint.button.click()
    assert not scene.controller.is_drafting and scene.hint.text == ""
    assert not scene.controller.take_message("tell more", False)


def test_another_session_drops_the_card_and_the_draft(scene: Scene) -> None:
    scene.show()
    scene.ask(1)
    scene.choose("edit")
    with scene.qtbot.waitSignal(scene.controller.draft_dropped) as dropped:
        scene.cursor.select_session(OTHER)
    assert dropped.args == ["tell"]
    assert not scene.controller.is_drafting and scene.hint.text == "" and scene.card.title == ""


def test_the_card_is_not_shown_for_a_session_left_meanwhile(scene: Scene) -> None:
    scene.show()
    scene.cursor.select_event(1)
    scene.controller.ask_at_selected()
    scene.current.session = None
    asyncio.run(scene.tasks.run_all())
    assert scene.card.title == ""

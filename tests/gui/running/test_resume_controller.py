"""The controller that offers to resume, with the real hints and card."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.documents.session_address import SessionAddress
from inspector_app.running.preflight_card import PreflightCard
from inspector_app.running.resume_controller import ResumeController
from inspector_app.running.view_data import Preflight
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.workspace.cursor import Cursor
from runtime.history.invocations import Invocation
from runtime.sessions.session import SessionKey
from tests.gui.events import said
from tests.gui.fake_owners import Events, FakeCurrent, FakeRun, FakeSession, FakeWorkingCopy, FakeWriteAccess, fake_workspace
from tests.unit.inspector_app.workspace.fakes import FakeAgents, FakeSource, FakeTasks

HERE = SessionAddress("story.db", SessionKey("story", "u", "s"))


@dataclass
class Scene:
    """A controller with its fake owners and its real widgets."""

    cursor: Cursor
    agents: FakeAgents
    current: FakeCurrent
    run: FakeRun
    write_access: FakeWriteAccess
    working_copy: FakeWorkingCopy
    tasks: FakeTasks
    resume_hint: HintBar
    writing_hint: HintBar
    card: PreflightCard
    controller: ResumeController
    qtbot: QtBot

    def show_interrupted(self, **source: bool) -> None:
        """Display a session whose only invocation was interrupted after its second event."""
        events = Events([said("tell", author="user", id="a"), said("once", id="b")])
        self.run.invocation = Invocation("e-1", "interrupted", "the process ended", "a", "b", {})
        self.current.show(FakeSession(HERE, events, FakeSource(**source)))  # type: ignore[arg-type]

    def ask(self, *, paused: bool = False) -> None:
        """Show the card with a plan that the controller made before."""
        places = ("here",) if self.current.session.source.writing_allowed else ("copy", "backup")  # type: ignore[union-attr]
        self.card.ask(Preflight("e-1", "Resume?", places=places), paused=paused)  # type: ignore[arg-type]

    def choose(self, name: str) -> None:
        self.qtbot.mouseClick(self.card.findChild(QPushButton, f"preflight_{name}"), Qt.MouseButton.LeftButton)
        asyncio.run(self.tasks.run_all())


@pytest.fixture
def scene(qtbot: QtBot) -> Scene:
    cursor, agents, current, run = Cursor(), FakeAgents(), FakeCurrent(), FakeRun()
    write_access, working_copy, tasks = FakeWriteAccess(), FakeWorkingCopy(), FakeTasks()
    resume_hint, writing_hint, card = HintBar("resume_hint"), HintBar("writing_hint"), PreflightCard()
    for widget in (resume_hint, writing_hint, card):
        qtbot.addWidget(widget)
    owners = {"cursor": cursor, "agents": agents, "current": current, "run": run, "tasks": tasks}
    work = fake_workspace(**owners, write_access=write_access, working_copy=working_copy)
    controller = ResumeController(work, resume_hint, writing_hint, card)
    return Scene(cursor, agents, current, run, write_access, working_copy, tasks, resume_hint, writing_hint, card, controller, qtbot)


def test_an_interrupted_invocation_is_offered_with_its_last_event(scene: Scene) -> None:
    scene.show_interrupted()
    assert scene.resume_hint.text == "Interrupted after event 2. Resume continues from there."
    assert scene.resume_hint.button.isEnabled()
    assert scene.writing_hint.text == ""


def test_the_offer_says_why_resuming_is_blocked(scene: Scene) -> None:
    scene.run.reason = "Open the agent first."
    scene.show_interrupted()
    assert scene.resume_hint.text == "Interrupted after event 2. Open the agent first."
    assert not scene.resume_hint.button.isEnabled()


def test_nothing_is_offered_during_a_run(scene: Scene) -> None:
    scene.show_interrupted()
    scene.run.phase = "running"
    scene.run.run_started.emit(HERE)
    assert scene.resume_hint.text == ""
    scene.controller.show_hints()
    assert scene.resume_hint.text == ""


@pytest.mark.parametrize(
    ("can_write", "can_copy", "buttons"),
    [(True, True, ["Allow writing… (backup)", "Work on a copy"]), (False, True, ["", "Work on a copy"])],
)
def test_a_read_only_database_is_offered_for_writing_or_copying(scene: Scene, can_write: bool, can_copy: bool, buttons: list[str]) -> None:
    scene.show_interrupted(writing_allowed=False, can_write=can_write, can_copy=can_copy)
    assert [button.text() for button in (scene.writing_hint.button, scene.writing_hint.other_button)] == buttons
    scene.qtbot.mouseClick(scene.writing_hint.other_button, Qt.MouseButton.LeftButton)
    assert scene.working_copy.calls == ["request"]


@pytest.mark.parametrize("paused", [False, True])
def test_accepting_the_card_resumes(scene: Scene, paused: bool) -> None:
    scene.show_interrupted()
    scene.ask(paused=paused)
    assert scene.run.calls == [], "nothing runs before the user accepts"
    scene.choose("resume")
    assert scene.run.calls == [("resume", "e-1", paused)]
    assert scene.write_access.calls == scene.working_copy.calls == []


@pytest.mark.parametrize(("choice", "copied", "allowed"), [("resume", ["copy story.db"], []), ("elsewhere", [], ["allow story.db"])])
def test_a_read_only_database_is_resumed_in_the_chosen_place(scene: Scene, choice: str, copied: list[str], allowed: list[str]) -> None:
    scene.show_interrupted(writing_allowed=False)
    scene.ask()
    scene.choose(choice)
    assert scene.run.calls == [("resume", "e-1", False)]
    assert (scene.working_copy.calls, scene.write_access.calls[:1]) == (copied, allowed)


def test_the_card_closes_when_events_are_added(scene: Scene) -> None:
    scene.show_interrupted()
    scene.ask()
    assert scene.card.shown is not None
    scene.current.events_added.emit([])
    assert scene.card.shown is None


def test_a_cancelled_card_offers_again(scene: Scene) -> None:
    scene.show_interrupted()
    scene.controller.hide_offer()
    scene.ask()
    with scene.qtbot.waitSignal(scene.controller.cancelled):
        scene.qtbot.keyClick(scene.card, Qt.Key.Key_Escape)
    assert scene.resume_hint.text.startswith("Interrupted after event 2.")

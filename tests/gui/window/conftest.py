"""The whole window, driven through its real widgets, on the asyncio loop that the application uses."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from inspector_app.app import Inspector
from inspector_app.demo import STORY, interrupted_story
from inspector_app.support.loop import InspectorLoop
from inspector_app.support.settings import Settings
from inspector_app.workspace.messages import MessageBus
from resources.samples.story import script
from runtime.agents.llm_agent import LlmAgent


@pytest.fixture(scope="session")
def finished_half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with a story that was interrupted half-way; to be copied."""
    return interrupted_story(tmp_path_factory.mktemp("story") / "story.db")


@pytest.fixture
def story_db(finished_half: Path, tmp_path: Path) -> Path:
    """A copy of it, to write to."""
    return Path(shutil.copy(finished_half, tmp_path / "story.db"))


@pytest.fixture(scope="session")
def loop(qapp: QApplication) -> Iterator[InspectorLoop]:
    """One loop for all tests: pytest-qt turns Qt's own loop, and asyncio's steps run inside it."""
    loop = InspectorLoop(qapp, already_running=True)
    asyncio.events._set_running_loop(None)
    yield loop
    loop._after_run_forever()
    loop._QEventLoop__is_running = False  # `stop` would tell Qt to quit
    loop.close()


@pytest.fixture
def running(loop: InspectorLoop) -> Iterator[InspectorLoop]:
    """The loop, as the running one."""
    asyncio.events._set_running_loop(loop)
    yield loop
    asyncio.events._set_running_loop(None)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of this test alone."""
    return Settings(tmp_path / "settings")


@pytest.fixture
def inspector(story_db: Path, running: InspectorLoop, qapp: QApplication, settings: Settings, qtbot: QtBot) -> Iterator[Inspector]:
    """The window, shown and empty; at the end it must close with nothing left running."""
    inspector = Inspector(qapp, settings, MessageBus())
    inspector.show((1280, 800))
    yield inspector
    timers = [timer for owner in (inspector, inspector.controller, inspector.window) for timer in owner.findChildren(QTimer)]
    with qtbot.waitSignal(inspector.closed, timeout=10_000):
        inspector.window.close()
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    assert not [timer.parent() for timer in timers if isValid(timer) and timer.isActive()]
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    # What is left Python's collector would delete on whatever thread it runs.
    assert not [part for part in (inspector, inspector.controller, inspector.window) if isValid(part)]


@pytest.fixture
def opened(inspector: Inspector, qtbot: QtBot) -> Callable[..., None]:
    """Open paths as the command line does, and wait until nothing goes on any more."""

    def open_paths(*paths: Path) -> None:
        inspector.tasks.spawn(inspector.open([str(path) for path in paths]), "Opening")
        qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)

    return open_paths


@pytest.fixture
def story(inspector: Inspector, story_db: Path, opened: Callable[..., None]) -> Inspector:
    """The interrupted story and its agent, which answers without delays."""
    opened(story_db, STORY)
    assert inspector.agents.loaded is not None
    for agent in inspector.agents.loaded.app.root_agent.descendants():
        if isinstance(agent, LlmAgent):
            agent.model = script.story_script(delay=0)
    return inspector

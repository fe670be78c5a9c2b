"""Fixtures for tests of the whole window, driven through its real widgets on the application's event loop."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from inspector_app.app import Inspector
from inspector_app.demo import STORY, interrupted_story
from inspector_app.resources.samples.orders.script import order_script
from inspector_app.resources.samples.story import script
from inspector_app.support.loop import InspectorLoop
from inspector_app.support.settings import Settings
from inspector_app.workspace.messages import MessageBus
from runtime.agents.llm_agent import LlmAgent
from tests.gui.event_loop import LoopOfTests
from tests.gui.window.driver import WindowDriver
from tests.gui.window.recorded_town import record_town
from tests.gui.window.trusting import trust_folder

ORDERS = STORY.parent / "orders"


@pytest.fixture(scope="session")
def finished_half(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database with an interrupted story; tests copy it."""
    return interrupted_story(tmp_path_factory.mktemp("story") / "story.db")


@pytest.fixture
def story_db(finished_half: Path, tmp_path: Path) -> Path:
    """Return a writable copy of the interrupted story's database."""
    return Path(shutil.copy(finished_half, tmp_path / "story.db"))


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database with three turns, one of them rewound, and its recording beside it."""
    folder = tmp_path_factory.mktemp("town")
    with ThreadPoolExecutor(1) as thread:  # the window's loop belongs to this one
        thread.submit(lambda: asyncio.run(record_town(folder))).result()
    return folder


@pytest.fixture
def recorded_db(town: Path, tmp_path: Path) -> Path:
    """Return a copy of the town's database, with its recording."""
    for file in town.iterdir():
        shutil.copy(file, tmp_path)
    return tmp_path / "town.db"


@pytest.fixture(scope="session")
def loop(qapp: QApplication) -> Iterator[LoopOfTests]:
    """Yield one loop for all tests."""
    loop = LoopOfTests(qapp)
    yield loop
    loop.shut_down()


@pytest.fixture
def running(loop: LoopOfTests) -> Iterator[InspectorLoop]:
    """Yield the loop, installed as the running loop."""
    loop.install()
    yield loop
    loop.uninstall()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return settings for this test alone."""
    return Settings(tmp_path / "settings")


@pytest.fixture
def inspector(story_db: Path, running: InspectorLoop, qapp: QApplication, settings: Settings, qtbot: QtBot) -> Iterator[Inspector]:
    """Yield the empty window; on teardown it must close and leave nothing running."""
    inspector = Inspector(qapp, settings, MessageBus())
    inspector.show((1280, 800))
    yield inspector
    timers = [timer for owner in (inspector, inspector.window) for timer in owner.findChildren(QTimer)]
    with qtbot.waitSignal(inspector.closed, timeout=10_000):
        inspector.window.close()
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    assert not [timer.parent() for timer in timers if isValid(timer) and timer.isActive()]
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    # Otherwise Python's garbage collector would delete it on an arbitrary thread.
    assert not [part for part in (inspector, inspector.window) if isValid(part)]


@pytest.fixture
def driver(inspector: Inspector, qtbot: QtBot) -> WindowDriver:
    """Return the driver of the window."""
    return WindowDriver(inspector, qtbot)


@pytest.fixture
def opened(inspector: Inspector, qtbot: QtBot) -> Callable[..., None]:
    """Return a function that opens paths as the command line does and waits until all tasks are done."""

    def open_paths(*paths: Path) -> None:
        inspector.tasks.spawn(inspector.open([str(path) for path in paths]), "Opening")
        qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)

    return open_paths


@pytest.fixture
def story(inspector: Inspector, story_db: Path, opened: Callable[..., None]) -> Inspector:
    """Return the window with the interrupted story and its agent, which answers without delays."""
    opened(story_db, STORY)
    assert inspector.agents.loaded is not None
    for agent in inspector.agents.loaded.app.root_agent.descendants():
        if isinstance(agent, LlmAgent):
            agent.model = script.story_script(delay=0)
    return inspector


@pytest.fixture
def orders(inspector: Inspector, opened: Callable[..., None]) -> Inspector:
    """Return the window with the order desk sample, which answers without delays."""
    opened(ORDERS)
    assert inspector.agents.loaded is not None
    inspector.agents.loaded.app.root_agent.model = order_script(delay=0)  # type: ignore[attr-defined]
    return inspector


@pytest.fixture
def agent(
    inspector: Inspector, settings: Settings, opened: Callable[..., None], tmp_path: Path
) -> Iterator[Callable[[str, str], Inspector]]:
    """Return a function that writes an agent's code to a folder, trusts it and opens it."""
    loaded_before = set(sys.modules)

    def load(name: str, code: str) -> Inspector:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "agent.py").write_text(code)
        trust_folder(inspector, folder)
        opened(folder)
        assert inspector.agents.loaded is not None
        return inspector

    yield load
    for name in set(sys.modules) - loaded_before:
        if name.startswith("agent_"):  # the loader's prefix for agent packages
            del sys.modules[name]

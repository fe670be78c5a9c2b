"""A window with an agent on google-adk, and other programs, on one database."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from runtime.sessions import DatabaseSessionService
from tests.crash.test_one_file import Acknowledged, google_adk, missing
from tests.gui.window.driver import WindowDriver
from tests.gui.window.test_own_environment import STEPS, open_agent
from tests.interop.google_adk import adk_1_python, adk_python
from tests.stranger import Stranger, descriptors
from tests.sweep import count
from tests.whole_file import events_of_file

pytestmark = [pytest.mark.sweep, pytest.mark.timeout(7200), pytest.mark.usefixtures("prepared_pythons")]

ROUNDS = count(quick=1, full=10)
TURN = json.dumps([["call", "weather", {"city": "Bern"}], ["call", "weather", {"city": "Rome"}], ["It is blue."]])


async def create(file: Path) -> None:
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        await service.create_session(app_name="steps_app", user_id="user", session_id="first")


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """Yield a database of ours; after the window is closed, the file is whole."""
    file = tmp_path / "saved.db"
    with ThreadPoolExecutor(1) as thread:  # the window's loop belongs to this one
        thread.submit(lambda: asyncio.run(create(file))).result()
    yield file
    assert events_of_file(file) > 0
    assert [path.name for path in tmp_path.glob("saved.db*")] == ["saved.db"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / ".venv").symlink_to(Path(adk_python()).parent.parent)
    return Path(shutil.copytree(STEPS, tmp_path / "project" / "steps", ignore=shutil.ignore_patterns("__pycache__")))


@pytest.fixture
def written(file: Path) -> Iterator[Acknowledged]:
    """Let both google-adk append, and another program open and close the file, as long as the window is open."""
    acknowledged, stop = Acknowledged(), threading.Event()

    def visit() -> None:
        stranger = Stranger(file)
        while not stop.is_set():
            stranger.ask("visit")
        stranger.close()

    thread = threading.Thread(target=visit)
    thread.start()
    with google_adk(adk_python(), file, "two", acknowledged), google_adk(adk_1_python(), file, "one", acknowledged):
        yield acknowledged
        stop.set()
        thread.join()
    assert missing(file, acknowledged.written) == []
    assert {name[:4] for _, name in acknowledged.written} >= {"one-", "two-"}


def deleted(file: Path) -> list[str]:
    """Return what was deleted of a database, and is still open in this process or below it."""
    found = descriptors(file)
    for process in psutil.Process().children(recursive=True):
        with suppress(OSError):
            for link in Path(f"/proc/{process.pid}/fd").iterdir():
                with suppress(OSError):
                    found.append(str(link.readlink()))
    return [path for path in found if path.startswith(str(file)) and path.endswith("-wal (deleted)")]


def test_the_log_stays_while_sessions_are_stepped_stopped_and_forked(
    file: Path, written: Acknowledged, driver: WindowDriver, project: Path
) -> None:
    inspector, commands = driver.inspector, driver.inspector.window.commands
    open_agent(driver, project)
    inspector.features.opening.opening.open_path(str(file))
    driver.run_until_idle()
    for number in range(ROUNDS):
        commands.new_session.trigger()
        driver.run_until_idle()
        driver.bench.parts.composer.set_text(TURN)
        commands.step.trigger()
        driver.run_until_held()
        assert deleted(file) == [], number
        commands.step_into.trigger()
        driver.run_until(lambda: inspector.run.hold is not None and inspector.run.hold.place == "before tool")
        commands.stop.trigger()
        driver.run_until(lambda: inspector.run.phase == "idle")
        driver.run_until_idle()
        driver.run_message(TURN)
        assert deleted(file) == [], number
        before = inspector.cursor.session
        driver.fork.ask(3)
        with driver.qtbot.waitSignal(inspector.run.run_ended, timeout=60_000) as ended:
            driver.fork.choose("rerun")
        driver.run_until_idle()
        assert ended.args[0].error is None
        assert inspector.cursor.session != before
        assert deleted(file) == [], number
        text = driver.log_text()
        assert "damaged" not in text and "disk" not in text, text
    assert len(driver.stream.results("weather")) > 0

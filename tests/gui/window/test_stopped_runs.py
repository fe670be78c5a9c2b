"""A run that a person stops is not shown as finished, also where its last event is an answer."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from tests.gui.window.driver import WindowDriver
from tests.gui.window.trusting import trust_folder
from tests.interop.google_adk import adk_python

TALK = """
from google.adk.agents import BaseAgent, SequentialAgent
from google.adk.events import Event
from google.genai import types


class Says(BaseAgent):
    async def _run_async_impl(self, ctx):
        content = types.Content(role="model", parts=[types.Part(text=self.name)])
        yield Event(author=self.name, invocation_id=ctx.invocation_id, content=content)


root_agent = SequentialAgent(name="talk", sub_agents=[Says(name="one"), Says(name="two")])
"""


def talking(inspector: Inspector, folder: Path, engine: str) -> Path:
    """Write the agent, trust it and choose its engine."""
    folder.mkdir()
    (folder / "agent.py").write_text(TALK)
    inspector.settings.keep_engine(folder, {"kind": engine, **({"python": adk_python()} if engine == "adk" else {})})
    trust_folder(inspector, folder)
    return folder


@pytest.mark.parametrize("engine", ["embedded", "adk"])
def test_a_run_stopped_after_an_answer_is_not_finished(
    engine: str, inspector: Inspector, driver: WindowDriver, opened: Callable[..., None], tmp_path: Path, qtbot: QtBot
) -> None:
    opened(talking(inspector, tmp_path / "talk", engine))
    inspector.run.send("go", paused=True)
    driver.run_until_held()
    with qtbot.waitSignal(inspector.run.run_ended, timeout=20_000) as ended:
        inspector.run.stop()
    driver.run_until_idle()
    address = ended.args[0].address
    assert inspector.current.session is not None
    (found,) = inspector.current.session.invocations
    assert (found.status, found.reason) == ("stopped", "by a person")
    assert inspector.catalog.mark(address) == "stopped"
    with qtbot.waitSignal(inspector.run.run_ended, timeout=20_000):
        inspector.run.send("again")
    driver.run_until_idle()
    assert inspector.catalog.mark(address) == "finished"
    assert inspector.catalog.earlier(address) == "1 earlier message without an answer"
    assert inspector.window.run_bar.state_text == "idle"


@pytest.mark.usefixtures("caplog")  # the embedded runtime logs that it could not record the end
@pytest.mark.parametrize("engine", ["embedded", "adk"])
def test_a_run_that_failed_in_the_storage_is_not_finished(
    engine: str, inspector: Inspector, driver: WindowDriver, opened: Callable[..., None], tmp_path: Path, qtbot: QtBot
) -> None:
    opened(talking(inspector, tmp_path / "talk", engine))
    driver.run_message("go")
    address = inspector.cursor.session
    assert address is not None
    assert inspector.catalog.mark(address) == "finished"
    with closing(sqlite3.connect(address.database)) as file:
        two = "json_extract(NEW.event_data, '$.author') = 'two'"
        file.execute(f"CREATE TRIGGER full BEFORE INSERT ON events WHEN {two} BEGIN SELECT RAISE(ABORT, 'no room'); END")
        file.execute("CREATE TRIGGER ends BEFORE INSERT ON inspector_invocations BEGIN SELECT RAISE(ABORT, 'no room'); END")
    with qtbot.waitSignal(inspector.run.run_ended, timeout=20_000):
        inspector.run.send("again")
    driver.run_until_idle()
    assert inspector.current.session is not None
    found = inspector.current.session.invocations[-1]
    assert (found.status, inspector.catalog.mark(address)) == ("failed", "failed"), found.reason

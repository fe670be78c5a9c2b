"""What agents as tools did is in the stream and in the sums, during the run and after a restart, on both engines."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.detail.author_label import AuthorLabel
from tests.gui.window.driver import WindowDriver
from tests.gui.window.trusting import trust_folder
from tests.interop.google_adk import adk_python

OFFICE = """
from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.tools import AgentTool
from google.genai import types


class Asks(BaseLlm):
    asks: str = ""

    async def generate_content_async(self, llm_request, stream=False):
        if self.asks and not llm_request.contents[-1].parts[-1].function_response:
            parts = [types.Part(function_call=types.FunctionCall(name=self.asks, args={"request": "look"})) for _ in range(2)]
        else:
            parts = [types.Part(text="Done.")]
        usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=100, candidates_token_count=10, total_token_count=110)
        yield LlmResponse(content=types.Content(role="model", parts=parts), usage_metadata=usage, model_version="gemini-2.5-flash")


third = LlmAgent(name="third", model=Asks(model="m"))
second = LlmAgent(name="second", model=Asks(model="m", asks="third"), tools=[AgentTool(agent=third)])
root_agent = LlmAgent(name="first", model=Asks(model="m", asks="second"), tools=[AgentTool(agent=second)])
"""
CALLS = 2 + 2 * (2 + 2)  # of models: each agent asks the next one twice and answers


def rows(inspector: Inspector) -> list[tuple[str, str, str, int]]:
    model = inspector.features.stream.events
    shown = map(model.stream_row, range(model.rowCount()))
    return [(row.kind, row.author, row.summary, row.lanes) for row in shown if row.kind.startswith("tool agent")]


def has_all(inspector: Inspector) -> bool:
    model = inspector.features.stream.events
    return model.rowCount() > 0 and "(880 nested)" in model.stream_row(0).tokens


def ran(place: Path) -> tuple[Path, Path, list[str]]:
    """Let another process run the agents; return their folder, the database and the command."""
    folder, database = place / "office", place / "all.db"
    folder.mkdir()
    (folder / "agent.py").write_text(OFFICE)
    run = [sys.executable, "-m", "inspector_app", "run", str(folder), "--message", "go", "--db", str(database), "--session", "s"]
    subprocess.run(run, check=True, capture_output=True, timeout=60)
    return folder, database, run


@pytest.mark.parametrize("engine", ["embedded", "adk"])
def test_rows_and_sums_are_the_same_after_a_restart_and_in_a_fork(
    engine: str, inspector: Inspector, driver: WindowDriver, opened: Callable[..., None], tmp_path: Path, qtbot: QtBot
) -> None:
    folder = tmp_path / "office"
    folder.mkdir()
    (folder / "agent.py").write_text(OFFICE)
    inspector.settings.keep_engine(folder, {"kind": engine, **({"python": adk_python()} if engine == "adk" else {})})
    trust_folder(inspector, folder)
    opened(folder)
    driver.run_message("go")
    driver.run_until(lambda: has_all(inspector))
    live = rows(inspector)
    assert [row[:3] for row in live if row[0] == "tool agent"] == [("tool agent", "second", "5 events inside this call")] * 2
    assert {(row[1], row[3]) for row in live if row[0] == "tool agent event"} == {("second", 1), ("third", 2)}
    status = inspector.window.status.text("tokens")
    assert status.startswith(f"{CALLS * 110:,} tokens · $") and "not recorded" not in status
    header = inspector.features.stream.events.stream_row(0).tokens
    address = inspector.cursor.session
    assert address is not None
    inspector.cursor.select_session(None)
    inspector.features.stream.tool_agent_events._kept.clear()
    inspector.cursor.select_session(address)
    driver.run_until(lambda: has_all(inspector) and len(rows(inspector)) == len(live))
    assert sorted(rows(inspector)) == sorted(live) and inspector.window.status.text("tokens") == status
    assert inspector.features.stream.events.stream_row(0).tokens == header
    driver.fork.ask(len(driver.stream.events()) - 1)
    driver.fork.choose("fork")
    assert driver.fork.wait(address).key != address.key
    driver.run_until(lambda: has_all(inspector) and len(rows(inspector)) == len(live))
    assert sorted(rows(inspector)) == sorted(live) and inspector.window.status.text("tokens") == status


def test_a_run_of_another_process_has_them_too(
    inspector: Inspector, driver: WindowDriver, opened: Callable[..., None], tmp_path: Path
) -> None:
    _, database, run = ran(tmp_path)
    opened(database)
    driver.run_until(lambda: has_all(inspector))
    again = subprocess.Popen(run, stdout=subprocess.DEVNULL)
    model = inspector.features.stream.events
    driver.run_until(lambda: sum("(880 nested)" in model.stream_row(row).tokens for row in range(model.rowCount())) == 2)
    driver.run_until(lambda: len(rows(inspector)) == 2 * 2 * 6)
    assert again.wait(20) == 0
    assert inspector.window.status.text("tokens").startswith(f"{2 * CALLS * 110:,} tokens · $")


def test_what_a_slow_recorder_writes_late_is_counted_too(
    inspector: Inspector, driver: WindowDriver, opened: Callable[..., None], tmp_path: Path
) -> None:
    _, database, _ = ran(tmp_path)
    recording = database.with_suffix(".rec.db")
    recording.rename(tmp_path / "later")
    opened(database)
    driver.run_until(lambda: "not recorded" in inspector.window.status.text("tokens"))
    (tmp_path / "later").rename(recording)
    driver.run_until(lambda: has_all(inspector))


def test_the_author_of_a_displayed_event_has_the_colour_of_the_app_that_is_loaded_later(
    inspector: Inspector, driver: WindowDriver, opened: Callable[..., None], tmp_path: Path
) -> None:
    folder, database, _ = ran(tmp_path)
    colours, label = inspector.features.stream.events.make.colours, inspector.features.detail.view.findChild(AuthorLabel)
    colours.set_app("office", {"name": "earlier"})
    opened(database)
    driver.run_until(lambda: label._role == "author1")
    trust_folder(inspector, folder)
    opened(folder)
    driver.run_until(lambda: label._role == "author0" == colours.role("first"))

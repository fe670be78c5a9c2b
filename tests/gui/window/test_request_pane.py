"""The Request tab of a run that another program made and recorded: sources, sizes, events, differences."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
from PySide6.QtCore import QModelIndex
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from runtime.agents import LlmAgent
from runtime.apps import App
from runtime.models.scripted_llm import Reply, Rule, ScriptedLlm
from runtime.planners import PlanReActPlanner
from runtime.runners import Runner
from runtime.sessions import DatabaseSessionService
from tests.recorder import load_recorder

KEY = {"user_id": "u", "session_id": "s"}
SENTENCE = "The harbour is closed to sailing boats until Monday. "


def look_up(place: str) -> dict[str, Any]:
    """Look up what is known about a place, its opening times and its rules."""
    return {"place": place, "open": False, "rules": [SENTENCE.strip()] * 3}


def usage(prompt: int, cached: int, answer: int) -> types.GenerateContentResponseUsageMetadata:
    return types.GenerateContentResponseUsageMetadata(
        prompt_token_count=prompt, cached_content_token_count=cached, candidates_token_count=answer, total_token_count=prompt + answer
    )


def harbour_agent() -> LlmAgent:
    """Return an agent whose request has a part of every kind."""
    rules = [
        Rule(when="look_up \\{", reply=Reply(text=SENTENCE * 6, usage=usage(1_700, 1_024, 120))),
        Rule(when="harbour", reply=Reply(calls=[("look_up", {"place": "harbour"})], usage=usage(1_400, 0, 20))),
        Rule(reply=Reply(text="Noted.", usage=usage(900, 0, 4))),
    ]
    clerk = LlmAgent(name="clerk", description="Answers questions about permits.", model=ScriptedLlm(replies=["Yes."]))
    return LlmAgent(
        name="guide",
        description="Tells visitors about the town.",
        model=ScriptedLlm(model="gemini-2.5-flash", rules=rules),
        global_instruction="Answer in British English.",
        instruction="You are the guide of {town}.\n\nBe brief, and name your source.",
        planner=PlanReActPlanner(),
        tools=[look_up],
        sub_agents=[clerk],
    )


@pytest.fixture(scope="module")
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


async def record_town(folder: Path) -> None:
    """Run and record the turns."""
    plugin = load_recorder().RecorderPlugin(folder / "town.rec.db")
    service = DatabaseSessionService(db_url=f"sqlite:///{folder / 'town.db'}")
    runner = Runner(app=App(name="town", root_agent=harbour_agent(), plugins=[plugin]), session_service=service)
    await service.create_session(app_name="town", **KEY, state={"town": "Whitby"})
    for text in ("My key is password: horse-battery-7", "Forget this", "Is the harbour open?"):
        message = types.Content(role="user", parts=[types.Part(text=text)])
        events = [event async for event in runner.run_async(**KEY, new_message=message)]
        if text == "Forget this":
            await runner.rewind_async(**KEY, rewind_before_invocation_id=events[0].invocation_id)
    await runner.close()
    await service.close()


def node_values(inspector: Inspector) -> dict[str, Any]:
    return {node.key: node.value for node in inspector.window.workbench.detail.request.model.node(QModelIndex()).children}


def show_request(inspector: Inspector, index: int, qtbot: QtBot) -> dict[str, Any]:
    bench = inspector.window.workbench
    bench.stream.select_event(index)
    bench.detail.tabs.setCurrentIndex(2)
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)
    return node_values(inspector)


def test_a_recorded_request_says_where_everything_comes_from(
    inspector: Inspector, recorded_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(recorded_db)
    last = inspector.controller.events.event_count - 1
    values = show_request(inspector, last, qtbot)
    sources = values["system instruction"]
    assert list(sources) == ["global instruction", "instruction", "name and description", "planner", "transfer"]
    assert sources["instruction"].startswith("You are the guide of Whitby.") and sources["instruction"].endswith("name your source.")
    assert list(values["tools"]) == ["transfer_to_agent", "look_up"]
    assert values["answer"]["prompt tokens"] == 1_700 and values["answer"]["cached tokens"] == 1_024
    assert values["answer"]["cost"].startswith("$0.00")
    assert "first piece after" in values["time"]
    outside = next(value for title, value in values["events before"].items() if title.startswith("not in the request"))
    assert [reason.split(":")[0] for reason in outside.values()] == ["a rewind took it back", "a rewind took it back", "it is a rewind"]
    inside = next(value for title, value in values["events before"].items() if title.startswith("in the request"))
    assert list(inside) == ["#1 user", "#2 guide", "#6 user", "#7 guide", "#8 guide"]
    changed = values["changed since the previous call"]
    assert list(changed) == ["conversation"] and [key[0] for key in changed["conversation"]] == ["+", "+"]
    bar = inspector.window.workbench.detail.request.bar
    assert [part.name for part in bar.parts] == ["system instruction", "tools", "user", "model", "tool calls", "tool results"]
    assert sum(part.tokens or 0 for part in bar.parts) == pytest.approx(1_700, abs=6)
    assert "1,700 of 1,048,576 tokens (0.2%) · 1,024 cached" in bar.accessibleName()
    assert bar.isVisible() and bar.height() > 30


def test_the_first_call_has_no_previous_one(inspector: Inspector, recorded_db: Path, opened: Callable[..., None], qtbot: QtBot) -> None:
    opened(recorded_db)
    values = show_request(inspector, 1, qtbot)
    assert "changed since the previous call" not in values
    assert values["events before"] == {"in the request (1)": {"#1 user": "My key is password: horse-battery-7"}}
    assert "(redacted)" in str(values["conversation"])
    assert show_request(inspector, 0, qtbot) == {}
    assert inspector.window.workbench.detail.request.bar.parts == ()

"""A process that is killed right after an answer was committed: the invocation is interrupted, and a resume continues it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent_folders import write_agent
from tests.end2end.processes import agent_inspector, answer, lines
from tests.interop.google_adk import adk_python

DESK = """
import os
from pathlib import Path

from google.adk.agents import LlmAgent
from google.adk.apps import App, ResumabilityConfig
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import FunctionTool, LongRunningFunctionTool
from google.genai import types

DIES = Path(__file__).with_name("dies")


class Clerk(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        results = [part.function_response.response for content in llm_request.contents for part in content.parts if part.function_response]
        if any(result.get("status") in ("approved", "bought") for result in results):
            if DIES.exists():
                os._exit(9)
            part = types.Part(text="It is bought.")
        else:
            part = types.Part(function_call=types.FunctionCall(name="buy", args={"boxes": 40}))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def buy(boxes: int) -> dict | None:
    if KIND == "long-running":
        return None
    if DIES.exists():
        os._exit(9)
    return {"status": "bought"}


tool = LongRunningFunctionTool(buy) if KIND == "long-running" else FunctionTool(buy, require_confirmation=True)
clerk = LlmAgent(name="clerk", description="buys", model=Clerk(model="clerk"), tools=[tool])
app = App(name="desk", root_agent=clerk, resumability_config=ResumabilityConfig(is_resumable=True))
"""
ANSWERS = {"long-running": '{"status": "approved"}', "confirmation": '{"confirmed": true}'}


@pytest.mark.rule("C1", "C8", "C9")
@pytest.mark.parametrize(("kind", "engine"), [("long-running", "embedded"), ("confirmation", "embedded"), ("confirmation", "adk")])
def test_an_answer_survives_a_kill_and_takes_effect_on_a_resume(kind: str, engine: str, tmp_path: Path) -> None:
    desk, database = write_agent(tmp_path / "desk", f"KIND = {kind!r}\n{DESK}"), str(tmp_path / "desk.db")
    engine_options = ["--engine", engine, *(["--python", adk_python()] if engine == "adk" else [])]
    given = [desk, "--db", database, "--session", "s1", *engine_options]
    assert agent_inspector("run", *given, "--message", "40 boxes").returncode == 3
    (dies := tmp_path / "desk" / "dies").touch()
    assert agent_inspector("resume", *given, "--response", ANSWERS[kind]).returncode not in (0, 3)
    dies.unlink()
    (found,) = answer("invocations", database)
    assert (found["status"], found["reason"]) == ("interrupted", "the agent has not answered")
    ((pending,),) = (session["pending"] for session in answer("sessions", database))
    assert pending["kind"] == "interrupted"
    resumed = agent_inspector("resume", *given, "--json")
    *events, end = lines(resumed.stdout)
    assert (resumed.returncode, end["run"]["status"]) == (0, "finished")
    parts = [part for event in events for part in event.get("content", {}).get("parts", ())]
    results = [part["function_response"]["response"] for part in parts if "function_response" in part]
    assert results == ([{"status": "bought"}] if kind == "confirmation" else [])
    assert "It is bought." in resumed.stdout
    assert [each["status"] for each in answer("invocations", database)] == ["finished"]

"""A database and its recording, made by an agent whose requests have a part of every kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from google.genai import types

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

"""Run one tree of agents and print all requests to its models as JSON. Written for google-adk's public names."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent, LoopAgent
from google.adk.apps.app import App, EventsCompactionConfig
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.artifacts import InMemoryArtifactService
from google.adk.memory import InMemoryMemoryService
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.planners import PlanReActPlanner
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import AgentTool, LongRunningFunctionTool, ToolContext, exit_loop, load_artifacts, load_memory
from google.genai import types
from pydantic import BaseModel

REQUESTS: list[Any] = []


class Scripted(BaseLlm):
    """Gives its replies in order: a text, or calls as (name, arguments)."""

    replies: list[Any]

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        REQUESTS.append(
            {
                "contents": [content.model_dump(mode="json", exclude_none=True) for content in llm_request.contents],
                "config": llm_request.config.model_dump(mode="json", exclude_none=True, exclude={"response_schema", "http_options"}),
                "answers_in_schema": llm_request.config.response_schema is not None,
                "tools": list(llm_request.tools_dict),
            }
        )
        reply = self.replies.pop(0)
        if isinstance(reply, str):
            parts = [types.Part(text=reply)]
        else:
            parts = [types.Part(function_call=types.FunctionCall(name=name, args=args)) for name, args in reply]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def scripted(*replies: Any) -> Scripted:
    return Scripted(model="gemini-2.5-flash", replies=list(replies))


class Report(BaseModel):
    """A report."""

    title: str
    pages: int = 1


def look_up(word: str, tool_context: ToolContext) -> dict[str, str]:
    """Looks a word up.

    Args:
        word: the word.
    """
    tool_context.state["word"] = word
    return {"meaning": f"of {word}"}


async def save_note(text: str, tool_context: ToolContext) -> dict[str, int]:
    """Saves a note."""
    return {"version": await tool_context.save_artifact("note.txt", types.Part(text=text))}


def order(item: str) -> dict[str, str]:
    """Orders an item."""
    return {"ticket": item}


def tree() -> LlmAgent:
    adviser = LlmAgent(name="adviser", description="Gives advice.", model=scripted("Take care."))
    reporter = LlmAgent(
        name="reporter",
        description="Writes reports.",
        instruction="Report about {word}.",
        model=scripted([("look_up", {"word": "two"})], [("set_model_response", {"title": "Two", "pages": 2})]),
        tools=[look_up],
        output_schema=Report,
        output_key="report",
        disallow_transfer_to_parent=True,
        disallow_transfer_to_peers=True,
    )
    coder = LlmAgent(
        name="coder",
        description="Runs code.",
        static_instruction="You never change.",
        instruction="Now it is {word}.",
        model=scripted("It is 42."),
    )
    critic = LlmAgent(name="critic", model=scripted([("exit_loop", {})]), tools=[exit_loop], include_contents="none")
    return LlmAgent(
        name="root",
        description="Leads.",
        global_instruction="All are kind.",
        instruction="Lead them.",
        model=scripted(
            [("look_up", {"word": "one"}), ("adviser", {"request": "What now?"})],
            [("save_note", {"text": "hello"})],
            [("load_artifacts", {"artifact_names": ["note.txt"]})],
            [("load_memory", {"query": "hello"})],
            [("order", {"item": "tea"})],
            "Ordered.",
            [("transfer_to_agent", {"agent_name": "reporter"})],
            [("transfer_to_agent", {"agent_name": "coder"})],
            [("transfer_to_agent", {"agent_name": "loop"})],
        ),
        tools=[look_up, save_note, LongRunningFunctionTool(order), load_memory, load_artifacts, AgentTool(adviser)],
        generate_content_config=types.GenerateContentConfig(temperature=0.5),
        sub_agents=[reporter, coder, LoopAgent(name="loop", sub_agents=[critic], max_iterations=2)],
    )


def planning_app() -> App:
    """Return an agent that plans, whose conversation is summed up after each turn."""
    plan = "/*PLANNING*/ 1. Think. /*FINAL_ANSWER*/ One."
    planner = LlmAgent(
        name="planner", model=scripted([("look_up", {"word": "x"})], plan, "Two."), tools=[look_up], planner=PlanReActPlanner()
    )
    summarizer = LlmEventSummarizer(llm=scripted("A summary.", "Another summary."))
    compaction = EventsCompactionConfig(compaction_interval=1, overlap_size=0, summarizer=summarizer)
    return App(name="app", root_agent=planner, events_compaction_config=compaction)


async def send(runner: Runner, session_id: str, texts: list[str]) -> None:
    await runner.session_service.create_session(app_name="app", user_id="u", session_id=session_id, state={"word": "zero"})
    for text in texts:
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id="u", session_id=session_id, new_message=message):
            pass


async def main() -> None:
    services: dict[str, Any] = {"artifact_service": InMemoryArtifactService(), "memory_service": InMemoryMemoryService()}
    runner = Runner(app_name="app", agent=tree(), session_service=InMemorySessionService(), **services)
    for session_id, texts in (("s", ["one", "two"]), ("t", ["three"]), ("u", ["four"])):
        await send(runner, session_id, texts)
    await send(Runner(app=planning_app(), session_service=InMemorySessionService()), "v", ["five", "six"])


asyncio.run(main())
sys.stdout.write("RESULT" + json.dumps(REQUESTS) + "\n")

"""Workflow agents whose children escalate, or wait for a person: who speaks, until the run's end and after the person's answer."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

from google.adk.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.apps import App, ResumabilityConfig
from google.adk.events import Event, EventActions
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from google.genai import types

from tests.interop.beside.common import print_result, scripted, shown_event

SPOKE: dict[str, asyncio.Event] = {}  # agent: set when its first event was consumed


def spoke(name: str) -> asyncio.Event:
    return SPOKE.setdefault(name, asyncio.Event())


class Says(BaseAgent):
    """Says its lines, each after another agent has spoken; `!` escalates, `~` is a partial event, `@` says nothing."""

    lines: list[str]
    after: str = ""
    holds: bool = False

    async def _run_async_impl(self, ctx: Any) -> Any:
        if self.after:
            await spoke(self.after).wait()
        for line in self.lines:
            content = None if "@" in line else types.Content(role="model", parts=[types.Part(text=f"{self.name}: {line}")])
            actions = EventActions(escalate=True if "!" in line else None)
            yield Event(
                author=self.name, invocation_id=ctx.invocation_id, branch=ctx.branch, content=content, actions=actions, partial="~" in line
            )
        if self.holds:
            await asyncio.Event().wait()
        spoke(f"{self.name} ended").set()


def says(name: str, *lines: str, after: str = "", **more: Any) -> Says:
    return Says(name=name, lines=list(lines) or ["done"], after=after, **more)


def holds(name: str, *lines: str) -> Says:
    """An agent that speaks and never ends."""
    return says(name, *lines, holds=True)


def seq(name: str, *agents: BaseAgent, **more: Any) -> SequentialAgent:
    return SequentialAgent(name=name, sub_agents=list(agents), **more)


def par(name: str, *agents: BaseAgent, **more: Any) -> ParallelAgent:
    return ParallelAgent(name=name, sub_agents=list(agents), **more)


def loop(name: str, *agents: BaseAgent, rounds: int = 2) -> LoopAgent:
    return LoopAgent(name=name, sub_agents=list(agents), max_iterations=rounds)


def llm(name: str, *replies: Any, **more: Any) -> LlmAgent:
    return LlmAgent(name=name, model=scripted(*replies, *["(more)"] * 3), **more)


async def leave(tool_context: ToolContext) -> str:
    """Escalate, once the other agent has spoken."""
    await spoke("slow").wait()
    tool_context.actions.escalate = True
    return "left"


def erase() -> str:
    """Erase."""
    return "erased"


def wait() -> dict[str, str]:
    """Wait."""
    return {"status": "pending"}


def quiet() -> None:
    """Return nothing."""


async def escalating(callback_context: Any) -> None:
    await spoke("slow").wait()
    callback_context.actions.escalate = True
    callback_context.state["left"] = True


def judge(*lines: str, after: str = "slow") -> Says:
    return says("judge", *(lines or ("stop!",)), after=after)


ESCALATING: dict[str, Callable[[], BaseAgent]] = {
    "direct": lambda: par("p", judge(), holds("slow")),
    "direct, three": lambda: par("p", holds("slow", "one", "two"), judge(), holds("other")),
    "without content": lambda: par("p", judge("@!"), holds("slow")),
    "more lines after it": lambda: par("p", judge("stop!", "and more"), holds("slow")),
    "at the last line": lambda: par("p", judge("first", "stop!"), holds("slow")),
    "alone": lambda: par("p", says("judge", "stop!", "more")),
    "both": lambda: par("p", judge(), says("slow", "one", "stop!")),
    "sibling has ended": lambda: par("p", judge("stop!", after="slow ended"), says("slow")),
    "partial": lambda: par("p", judge("~!", "done"), says("slow", "one", "two")),
    "by a tool": lambda: par("p", llm("judge", [("leave", {})], "never", tools=[leave]), holds("slow")),
    "by a callback": lambda: par("p", llm("judge", "text", before_agent_callback=escalating), holds("slow")),
    "by a later callback": lambda: par("p", llm("last", "text", after_agent_callback=escalating), holds("slow")),
    "in a sequence": lambda: par("p", seq("s", judge(), says("next")), says("slow", "one", after="")),
    "in a loop": lambda: par("p", loop("l", judge(), says("next")), says("slow")),
    "after a transfer": lambda: par(
        "p", llm("boss", [("transfer_to_agent", {"agent_name": "judge"})], sub_agents=[judge()]), says("slow", "one", "two")
    ),
    "inner of two": lambda: par("p", par("q", judge(), holds("slow")), says("outer", "one", "two")),
    "outer of two": lambda: par("p", par("q", holds("slow"), holds("other")), judge()),
    "then the next": lambda: seq("s", par("p", judge(), holds("slow")), says("next")),
    "leaves the loop": lambda: loop("l", par("p", judge(), holds("slow")), says("next"), rounds=3),
    "leaves the outer loop": lambda: loop("l", seq("s", par("p", judge(), holds("slow")), says("next")), rounds=3),
    "below a model": lambda: seq("s", par("p", judge(), llm("slow", "one")), llm("next", "seen")),
}


def asks(tool: str, name: str = "asks") -> LlmAgent:
    tools = {"erase": FunctionTool(erase, require_confirmation=True), "wait": LongRunningFunctionTool(wait)}
    return llm(name, [(tool, {})], "answered", tools=[tools.get(tool) or LongRunningFunctionTool(quiet)])


WAITING: dict[str, Callable[[str], BaseAgent]] = {
    "alone": asks,
    "first of a sequence": lambda tool: seq("s", asks(tool), says("next")),
    "last of a sequence": lambda tool: seq("s", says("before"), asks(tool)),
    "sequence in a sequence": lambda tool: seq("s", seq("t", asks(tool), says("inner")), says("next")),
    "loop": lambda tool: loop("l", asks(tool), says("next")),
    "loop in a sequence": lambda tool: seq("s", loop("l", asks(tool)), says("next")),
    "sequence in a loop": lambda tool: loop("l", seq("s", asks(tool), says("inner")), says("next")),
    "parallel": lambda tool: par("p", asks(tool), says("other", "one", "two")),
    "parallel in a sequence": lambda tool: seq("s", par("p", asks(tool), says("other", "one", "two")), says("next")),
    "sequence in parallel": lambda tool: par("p", seq("s", asks(tool), says("inner")), says("other", "one", "two")),
    "both of parallel": lambda tool: seq("s", par("p", asks(tool), asks(tool, "too")), says("next")),
    "after a transfer in a sequence": lambda tool: seq(
        "s", llm("boss", [("transfer_to_agent", {"agent_name": "asks"})], sub_agents=[asks(tool)]), says("next")
    ),
    "below a root that transfers": lambda tool: llm(
        "boss", [("transfer_to_agent", {"agent_name": "s"})], sub_agents=[seq("s", asks(tool), says("next"))]
    ),
}


def message_for(events: list[Event]) -> types.Content | None:
    """Return the person's answer to the first call that waits."""
    given = {response.id for event in events if event.author == "user" for response in event.get_function_responses()}
    for event in events:
        for call in event.get_function_calls():
            if call.id in (event.long_running_tool_ids or ()) and call.id not in given:
                response = {"confirmed": True} if call.name == "adk_request_confirmation" else {"done": True}
                answer = types.FunctionResponse(id=call.id, name=call.name, response=response)
                return types.Content(role="user", parts=[types.Part(function_response=answer)])
    return None


async def run(root: BaseAgent, *, resumable: bool, answers: int = 0) -> list[Any]:
    """Return what each run adds to the session: the message's and each answer's."""
    SPOKE.clear()
    service = InMemorySessionService()
    app = App(name="app", root_agent=root, resumability_config=ResumabilityConfig(is_resumable=resumable))
    runner = Runner(app=app, session_service=service)
    names = {"app_name": "app", "user_id": "u", "session_id": "s"}
    await service.create_session(**names)
    found: list[Any] = []
    message: types.Content | None = types.UserContent("go")
    for _ in range(1 + answers):
        before = len((await service.get_session(**names)).events)
        try:
            async with asyncio.timeout(10):
                async for event in runner.run_async(user_id="u", session_id="s", new_message=message):
                    spoke(event.author).set()
        except Exception as error:
            found.append(f"raised {type(error).__name__}")
        events = (await service.get_session(**names)).events
        found.append([said(event) for event in events[before:] if event.author != "user"])
        message = message_for(events)
        if message is None:
            break
    return found


def said(event: Event) -> list[Any]:
    shown = shown_event(event)
    parts = [part[:2] if isinstance(part, list) else part.get("text") for part in shown["parts"]]
    marks = [name for name in ("escalate", "end_of_agent", "agent_state") if shown["actions"].get(name) is not None]
    return [event.author, *parts, *marks]


async def main() -> dict[str, Any]:
    """Return all runs."""
    found: dict[str, Any] = {}
    for resumable in (False, True):
        kind = "resumable" if resumable else "not resumable"
        for name, tree in ESCALATING.items():
            found[f"escalating {name}, {kind}"] = await run(tree(), resumable=resumable)
        for (name, waiting), tool in itertools.product(WAITING.items(), ("erase", "wait", "quiet")):
            found[f"waiting {name}, {tool}, {kind}"] = await run(waiting(tool), resumable=resumable, answers=2)
    return found


if __name__ == "__main__":
    print_result(main)

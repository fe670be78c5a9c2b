"""Agents and tools built from the fixtures' JSON descriptions (`agent_specs` and `tools` in manifest.json)."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from google.genai import types
from pydantic import BaseModel, Field

from runtime.agents import BaseAgent, BaseAgentState, InvocationContext, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent, ToolContext
from runtime.events import Event, EventActions
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.tools import AgentTool, FunctionTool, LongRunningFunctionTool


class StepsState(BaseAgentState):
    """The progress of a Steps agent."""

    step: int = 0
    done: list[str] = Field(default_factory=list)


class Steps(BaseAgent):
    """An agent that checkpoints before its first and after every step, then ends."""

    steps: list[dict[str, Any]]

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        state = self._load_agent_state(ctx, StepsState)
        if state is None:
            state = StepsState()
            yield self._create_agent_state_event(ctx, state)
        for number in range(state.step, len(self.steps)):
            step = self.steps[number]
            if "run" in step:
                agent = self.find_sub_agent(step["run"])
                assert agent is not None
                async with aclosing(agent.run_async(ctx)) as events:
                    async for event in events:
                        yield event
            else:
                yield _said(self, ctx, step["text"], EventActions(state_delta=step.get("state", {})))
            state = StepsState(step=number + 1, done=[*state.done, step["name"]])
            yield self._create_agent_state_event(ctx, state)
        yield self._create_agent_state_event(ctx, end_of_agent=True)


def _said(agent: BaseAgent, ctx: InvocationContext, text: str, actions: EventActions) -> Event:
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return Event(invocation_id=ctx.invocation_id, author=agent.name, branch=ctx.branch, content=content, actions=actions)


class Plain(BaseAgent):
    """An agent without checkpoints that says something, runs its sub-agents in order, and says something again."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield _said(self, ctx, f"{self.name} begins", EventActions(state_delta={f"{self.name}_began": True}))
        for sub_agent in self.sub_agents:
            async with aclosing(sub_agent.run_async(ctx)) as events:
                async for event in events:
                    yield event
        yield _said(self, ctx, f"{self.name} is done", EventActions())


class Emit(BaseAgent):
    """An agent without checkpoints that says its lines and counts them in the state."""

    lines: list[str]
    counter: str | None = None
    escalate_at: int | None = None

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for line in self.lines:
            number = ctx.session.state.get(self.counter, 0) + 1 if self.counter else 0
            actions = EventActions(state_delta={self.counter: number} if self.counter else {})
            if self.escalate_at is not None and number >= self.escalate_at:
                actions.escalate = True
            yield _said(self, ctx, line.replace("{n}", str(number)), actions)


def get_weather(city: str, tool_context: ToolContext) -> dict[str, Any]:
    """Tells the weather; writes state in all four scopes."""
    tool_context.state["last_city"] = city
    tool_context.state["user:home"] = city
    tool_context.state["app:calls"] = tool_context.state.get("app:calls", 0) + 1
    tool_context.state["temp:raw"] = "11C"
    return {"city": city, "sky": "clear", "celsius": 11}


def fetch_prices(item: str, tool_context: ToolContext) -> dict[str, Any]:
    """Looks up a price."""
    cents = 100 * len(item)
    tool_context.state[f"price_{item}"] = cents
    return {"item": item, "cents": cents}


def slow_report(topic: str) -> dict[str, Any]:
    """Only hands out a ticket."""
    return {"status": "pending", "ticket": "T-1", "topic": topic}


def silent_job(topic: str) -> None:
    """Returns nothing at all."""


def transfer_money(amount: int, to: str) -> dict[str, Any]:
    """Needs a confirmation."""
    return {"sent": amount, "to": to}


def leave_loop(tool_context: ToolContext) -> dict[str, Any]:
    """Escalates out of the loop."""
    tool_context.actions.escalate = True
    tool_context.actions.skip_summarization = True
    return {}


def remember(key: str, value: str, tool_context: ToolContext) -> dict[str, Any]:
    """Sets a state key."""
    tool_context.state[key] = value
    return {"ok": True}


TOOLS: dict[str, Any] = {
    "get_weather": get_weather,
    "fetch_prices": fetch_prices,
    "slow_report": LongRunningFunctionTool(slow_report),
    "silent_job": LongRunningFunctionTool(silent_job),
    "transfer_money": FunctionTool(transfer_money, require_confirmation=True),
    "leave_loop": leave_loop,
    "remember": remember,
}


class Total(BaseModel):
    """The shape of an answer."""

    total: int


def build_agent(spec: dict[str, Any], tools: Mapping[str, Any] = TOOLS, llm: type[ScriptedLlm] = ScriptedLlm) -> BaseAgent:
    """Build the agent tree that a fixture or `tests.crash.trees` describes."""
    kind = spec["type"]
    common = {"name": spec["name"], "sub_agents": [build_agent(sub, tools, llm) for sub in spec.get("sub_agents", [])]}
    if "description" in spec:
        common["description"] = spec["description"]
    if kind == "llm":
        as_tools = {agent["name"]: AgentTool(build_agent(agent, tools, llm)) for agent in spec.get("agent_tools", [])}
        return LlmAgent(
            **common,
            model=llm(replies=[_reply(reply) for reply in spec["script"]]),
            tools=[as_tools.get(name) or tools[name] for name in spec.get("tools", [])],
            output_schema=Total if spec.get("shape") else None,
            instruction=spec.get("instruction", ""),
            output_key=spec.get("output_key"),
        )
    if kind == "sequential":
        return SequentialAgent(**common)
    if kind == "loop":
        return LoopAgent(**common, max_iterations=spec.get("max_iterations"))
    if kind == "parallel":
        return ParallelAgent(**common)
    if kind == "steps":
        return Steps(**common, steps=spec["steps"])
    if kind == "plain":
        return Plain(**common)
    if kind == "emit":
        return Emit(**common, lines=spec["lines"], counter=spec.get("counter"), escalate_at=spec.get("escalate_at"))
    raise ValueError(f"unknown agent kind {kind!r}")


def _reply(reply: dict[str, Any]) -> Any:
    if "calls" in reply:
        return Reply(calls=[tuple(call) for call in reply["calls"]], text=reply.get("text", ""))
    return reply["text"]


def shown(event: Event) -> dict[str, Any]:
    """Return an event in the form of the prefix tables."""
    row: dict[str, Any] = {"author": event.author}
    if event.branch:
        row["branch"] = event.branch
    parts = (event.content.parts if event.content else None) or []
    texts = [part.text for part in parts if part.text]
    if texts:
        row["text"] = texts
    if event.get_function_calls():
        row["calls"] = [[call.name, _without_ids(call.args or {})] for call in event.get_function_calls()]
    if event.get_function_responses():
        row["responses"] = [[response.name, response.response] for response in event.get_function_responses()]
    if event.long_running_tool_ids:
        row["long_running_calls"] = sorted(call.name or "" for call in event.get_function_calls() if call.id in event.long_running_tool_ids)
    actions = event.actions
    if actions.state_delta:
        row["state_delta"] = actions.state_delta
    for name in ("agent_state", "end_of_agent", "escalate", "transfer_to_agent"):
        if getattr(actions, name) is not None:
            row[name] = getattr(actions, name)
    if event.get_function_calls():
        row.pop("transfer_to_agent", None)  # google-adk has it on the response only
    return row


def _without_ids(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: "<id>" if key == "id" and re.match("adk-", str(item)) else _without_ids(item) for key, item in value.items()}
    return value


def message(text: str) -> types.Content:
    """Return a user's message."""
    return types.Content(role="user", parts=[types.Part(text=text)])

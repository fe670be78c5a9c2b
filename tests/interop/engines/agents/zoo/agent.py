"""An agent that hands a strange object to the place which the message names: "place: object"."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import BaseAgent, LlmAgent
from google.adk.events import Event, EventActions
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types

from .values import MAKERS, exception_with


def said(author: str, text: str) -> Event:
    return Event(author=author, content=types.Content(role="model", parts=[types.Part(text=text)]))


class OneCall(BaseLlm):
    """Calls the tool, then answers."""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        answered = any(part.function_response for part in llm_request.contents[-1].parts)
        call = types.Part(function_call=types.FunctionCall(name="act", args={}))
        part = types.Part(text="done") if answered else call
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def tool_agent(place: str, value: Any) -> LlmAgent:
    def act() -> Any:
        if place == "tool raises":
            raise exception_with(value)
        return {"k": value} if place == "tool result in a dict" else value if place == "tool result" else {"done": True}

    def act_with_default(value: Any = value) -> Any:
        return {"done": True}

    def callback(**_: Any) -> Any:
        if place.endswith("raises"):
            raise exception_with(value)
        return value

    def state_callback(tool_context: Any, **_: Any) -> None:
        tool_context.state["temp:k" if "temp" in place else "k"] = value

    hooks: dict[str, Any] = {
        name: callback for name in ("before_tool_callback", "after_tool_callback", "before_model_callback") if name in place
    }
    if place.startswith("state of a callback"):
        hooks["before_tool_callback"] = state_callback
    tool = act
    if place == "argument default":
        tool = act_with_default
        tool.__name__ = "act"
    return LlmAgent(name="inner", model=OneCall(model="one"), tools=[tool], **hooks)


class Zoo(BaseAgent):
    async def _run_async_impl(self, ctx: Any) -> AsyncGenerator[Event, None]:
        place, _, name = ctx.user_content.parts[0].text.partition(": ")
        value = MAKERS[name]() if name else None
        if place == "raise":
            raise exception_with(value)
        if place == "cause":
            raise ValueError("outer") from exception_with(value)
        if place == "group":
            raise BaseExceptionGroup("several", [exception_with(value), ValueError("plain")])
        if place == "notes":
            error = ValueError("with notes")
            error.__notes__ = [value]
            raise error
        if place == "attributes":
            raise AttributeError("no such", name="nam", obj=value)
        if place == "exit code":
            raise SystemExit(value)
        if place == "log":
            logging.getLogger("zoo").warning("the value is %s", value)
            logging.getLogger("zoo").warning(value)
            try:
                raise exception_with(value)
            except Exception:
                logging.getLogger("zoo").exception("caught")
        if place == "yield":
            yield value
        if place in ("state", "temp state"):
            key = "temp:k" if place == "temp state" else "k"
            yield Event(author=self.name, actions=EventActions(state_delta={key: value}))
        if place in ("direct state", "direct temp state"):
            ctx.session.state["temp:k" if "temp" in place else "k"] = value
        if "tool" in place or "callback" in place or place == "argument default":
            async for event in tool_agent(place, value).run_async(ctx):
                yield event
        yield said(self.name, "the end")


PLACES = (
    "raise",
    "cause",
    "group",
    "notes",
    "attributes",
    "exit code",
    "log",
    "yield",
    "state",
    "temp state",
    "direct state",
    "direct temp state",
    "tool raises",
    "tool result",
    "tool result in a dict",
    "argument default",
    "before_tool_callback",
    "before_tool_callback raises",
    "after_tool_callback",
    "before_model_callback",
    "before_model_callback raises",
    "state of a callback",
    "temp state of a callback",
)
root_agent = Zoo(name="zoo")

"""Example events for expressions."""

from __future__ import annotations

from typing import Any

from google.genai import types

from runtime.events import Event, EventActions


def said(text: str, author: str = "agent", **more: Any) -> Event:
    return Event(author=author, content=types.Content(role="model", parts=[types.Part(text=text)]), **more)


def called(*calls: tuple[str, dict[str, Any]], **more: Any) -> Event:
    parts = [types.Part(function_call=types.FunctionCall(id=f"c{n}", name=name, args=args)) for n, (name, args) in enumerate(calls)]
    return Event(author="agent", content=types.Content(role="model", parts=parts), **more)


def responded(name: str, response: dict[str, Any], **more: Any) -> Event:
    part = types.Part(function_response=types.FunctionResponse(id="c0", name=name, response=response))
    return Event(author="agent", content=types.Content(role="user", parts=[part]), **more)


def changed(**delta: Any) -> Event:
    return Event(author="agent", actions=EventActions(state_delta=delta))

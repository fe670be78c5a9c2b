"""An agent that repeats a recorded session, for looking at it where the real agent's code is not."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from google.genai import types

from runtime.agents.base_agent import BaseAgent
from runtime.apps.app import App
from runtime.contexts.invocation_context import InvocationContext
from runtime.events.event import Event
from runtime.support.bounded import parse, read_file


class RecordedAgent(BaseAgent):
    """An agent that answers the n-th message of a session with what was recorded after the n-th message.

    Attributes:
        answers: for each recorded message, the events that followed it, as google-adk's event JSON.
    """

    answers: list[list[dict[str, Any]]]

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        number = sum(event.author == "user" and event.content is not None for event in ctx.session.events) - 1
        if not 0 <= number < len(self.answers):
            text = f"The recording has {len(self.answers)} messages. Begin a new session to repeat it."
            yield Event(author=self.name, content=types.Content(role="model", parts=[types.Part(text=text)]))
            return
        for recorded in self.answers[number]:
            event = Event.model_validate({key: value for key, value in recorded.items() if key not in ("id", "timestamp")})
            event.invocation_id = ctx.invocation_id
            yield event


def answers_of(events: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return what followed each message of a session.

    Args:
        events: google-adk's event JSON, in commit order.
    """
    found: list[list[dict[str, Any]]] = []
    for event in events:
        if event.get("author") == "user" and event.get("content"):
            found.append([])
        elif found:
            found[-1].append(event)
    return found


def recorded_app(file: Path) -> App:
    """Return the app that repeats a recorded session.

    Args:
        file: JSON with the app's `name` and the session's `events`.
    """
    data = parse(read_file(file))
    name = str(data["name"])
    root = RecordedAgent(name=name if name.isidentifier() else "recorded", answers=answers_of(data["events"]))
    return App(name=name, root_agent=root)

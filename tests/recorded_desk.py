"""A database with a support desk's session, and its recording: three invocations, parallel tools, sub-agents, a wait and a failure."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from google.genai import types

from runtime.events.event import Event
from runtime.sessions.session_key import SessionKey
from runtime.storage.open_service import open_session_service
from tests.recorder import load_recorder

START = 1_795_000_000.0
KEY = SessionKey("desk", "user", "s-1")
MODEL = "gemini-2.5-flash"


@dataclass
class Desk:
    """The events and recorded calls of the session so far; `now` is seconds since `START`."""

    events: list[Event] = field(default_factory=list)
    models: list[dict[str, Any]] = field(default_factory=list)
    tools: list[dict[str, Any]] = field(default_factory=list)
    now: float = 0.0
    invocation: str = ""

    def user(self, text: str, after: float = 0.0) -> None:
        """A person's message begins an invocation."""
        self.now += after
        self.invocation = f"i-{len({event.invocation_id for event in self.events}) + 1}"
        self._add("user", "user", types.Part(text=text))

    def model(self, agent: str, seconds: float, *parts: types.Part, tokens: tuple[int, int, int] = (0, 0, 0), **fields: Any) -> None:
        """A model call of `seconds`, which begins a tenth of a second after what was before."""
        started = self.now + 0.1
        self.now = started + seconds
        prompt, cached, output = tokens
        usage = types.GenerateContentResponseUsageMetadata(
            prompt_token_count=prompt,
            cached_content_token_count=cached or None,
            candidates_token_count=output,
            total_token_count=prompt + output,
        )
        event = self._add(agent, "model", *parts, usage_metadata=usage, model_version=MODEL, **fields)
        self.models.append({"agent": agent, "started": START + started, "ended": seconds, "first": seconds / 4, "event_id": event.id})

    def calls(self, agent: str, *calls: tuple[str, str, float, bool]) -> None:
        """Tool calls beside each other: name, id, seconds, whether it fails."""
        started = self.now + 0.02
        self.now = started + max(seconds for _, _, seconds, _ in calls)
        parts = []
        for name, call_id, seconds, fails in calls:
            answer = {"error": "the warehouse does not answer"} if fails else {"result": "ok"}
            parts.append(types.Part(function_response=types.FunctionResponse(id=call_id, name=name, response=answer)))
            error = "TimeoutError: the warehouse does not answer" if fails else None
            self.tools.append(
                {"agent": agent, "tool": name, "call_id": call_id, "started": START + started, "ended": seconds, "error": error}
            )
            self.tools[-1]["invocation_id"] = self.invocation
        self._add(agent, "user", *parts)

    def answer(self, name: str, call_id: str, after: float) -> None:
        """A person answers a long-running call."""
        self.now += after
        part = types.Part(function_response=types.FunctionResponse(id=call_id, name=name, response={"approved": True}))
        self._add("user", "user", part)

    def _add(self, author: str, role: str, *parts: types.Part, **fields: Any) -> Event:
        content = types.Content(role=role, parts=list(parts))
        event = Event(author=author, invocation_id=self.invocation, content=content, timestamp=START + self.now, **fields)
        self.events.append(event)
        return event


def call(name: str, call_id: str) -> types.Part:
    return types.Part(function_call=types.FunctionCall(id=call_id, name=name, args={"order": 4711}))


def desk() -> Desk:
    """Return the session."""
    made = Desk()
    made.user("Where is my order 4711?")
    made.model("desk", 0.8, call("transfer_to_agent", "c-0"), tokens=(812, 0, 18))
    made.calls("desk", ("transfer_to_agent", "c-0", 0.01, False))
    made.model("shipping", 1.4, call("find_order", "c-1"), call("track", "c-2"), call("track", "c-3"), tokens=(1420, 768, 64))
    made.calls("shipping", ("find_order", "c-1", 0.4, False), ("track", "c-2", 1.1, False), ("track", "c-3", 0.7, False))
    made.model("shipping", 1.9, types.Part(text="It arrives on Friday."), tokens=(1610, 1280, 120))
    made.user("Send me 40 boxes of paper as well.", 40.0)
    made.model("desk", 0.7, call("check_stock", "c-4"), tokens=(1980, 1280, 22))
    made.calls("desk", ("check_stock", "c-4", 3.0, True))
    made.model("desk", 0.9, call("check_stock", "c-5"), tokens=(2105, 1280, 22))
    made.calls("desk", ("check_stock", "c-5", 0.6, False))
    made.model("desk", 1.1, call("approve_discount", "c-6"), tokens=(2190, 1280, 40), long_running_tool_ids={"c-6"})
    made.calls("desk", ("approve_discount", "c-6", 0.01, False))
    made.answer("approve_discount", "c-6", 600.0)
    made.model("desk", 2.2, types.Part(text="Ordered, with 10 % discount."), tokens=(2320, 0, 160))
    made.user("Thanks.", 20.0)
    made.model("desk", 0.6, types.Part(text="You are welcome."), tokens=(2510, 2048, 12))
    return made


def write_desk(file: Path, *, recorded: bool = True) -> Desk:
    """Write the session to a database, and its recording beside it."""
    made = desk()
    with ThreadPoolExecutor(1) as thread:  # a test may be within an event loop
        thread.submit(lambda: asyncio.run(_write(file, made))).result()
    if recorded:
        module = load_recorder()
        recording = module.Recording(file.with_suffix(".rec.db"))
        invocations = {event.id: event.invocation_id for event in made.events}
        for one in made.models:
            call = module.ModelCall(
                tuple(KEY), invocations[one["event_id"]], None, SimpleNamespace(name=one["agent"]), None, started=one["started"]
            )
            call.first, call.ended, call.event_id, call.model = one["first"], one["ended"], one["event_id"], MODEL
            recording.add_model_call(call)
        for one in made.tools:
            tool = module.ToolCall(
                tuple(KEY), one["invocation_id"], None, one["agent"], one["tool"], one["call_id"], started=one["started"]
            )
            tool.ended, tool.error = one["ended"], one["error"]
            recording.add_tool_call(tool)
        recording.close()
        assert recording.problem is None
    return made


async def _write(file: Path, made: Desk) -> None:
    service = open_session_service(str(file))
    session = await service.create_session(app_name=KEY.app_name, user_id=KEY.user_id, session_id=KEY.session_id)
    for event in made.events:
        await service.append_event(session, event)
    close = getattr(service, "close", None)
    if close is not None:
        await close()

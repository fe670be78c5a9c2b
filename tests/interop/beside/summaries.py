"""Sessions in which runs fail or wait, with a summary due after each two turns: the summarised events, and the last request."""

from __future__ import annotations

import itertools
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App, ResumabilityConfig
from google.adk.apps.app import EventsCompactionConfig
from google.adk.apps.base_events_summarizer import BaseEventsSummarizer
from google.adk.events import Event
from google.adk.events.event_actions import EventActions, EventCompaction
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import FunctionTool, LongRunningFunctionTool
from google.genai import types

from tests.interop.beside.common import print_result, scripted, shown

OUR_HEADING = "A summary of "
FAILURE = RuntimeError("503")
# A turn's replies; "answer" is the person's answer to the oldest open call.
TURNS: dict[str, list[Any]] = {
    "ok": ["fine"],
    "looks": [[("look", {})], "seen"],
    "model fails": [FAILURE],
    "model fails later": [[("look", {})], FAILURE],
    "tool fails": [[("fail", {})]],
    "one of two fails": [[("look", {}), ("fail", {})]],
    "confirmation": [[("erase", {})], "asked"],
    "long": [[("wait", {})], "started"],
    "long without result": [[("quiet", {})], "started"],
    "answer": ["answered", "answered"],
}
SESSIONS: dict[str, list[str]] = {
    **{f"{first} first": [first, *["ok"] * 6] for first in TURNS if first != "answer"},
    **{f"{third} third": ["ok", "looks", third, *["ok"] * 6] for third in TURNS if third != "answer"},
    "all fail": ["model fails", "tool fails", "one of two fails", "model fails later", "ok", "ok", "ok"],
    "answered soon": ["ok", "confirmation", "answer", "ok", "ok"],
    "answered after a summary": ["confirmation", "ok", "ok", "ok", "answer", "ok"],
    "long, answered after a summary": ["long", "ok", "ok", "ok", "answer", "ok"],
    "long without result, answered late": ["ok", "ok", "long without result", "ok", "ok", "answer", "ok", "ok"],
}


def look() -> dict[str, str]:
    """Look."""
    return {"seen": "all"}


def fail() -> str:
    """Fail."""
    raise RuntimeError("broken")


def erase() -> dict[str, str]:
    """Erase."""
    return {"erased": "all"}


def wait() -> dict[str, str]:
    """Wait."""
    return {"status": "pending"}


def quiet() -> None:
    """Return nothing."""


class Noting(BaseEventsSummarizer):
    """Notes what it sums up, in one letter."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def maybe_summarize_events(self, *, events: list[Event]) -> Event | None:
        said = [[event.author, *map(shown, event.content.parts or ())] for event in events if event.content]
        # In a resumable app google-adk 2 asks the model once more after an interim result.
        self.seen.append(
            [
                each[:1] + [part[:2] if isinstance(part, list) else part for part in each[1:]]
                for each in said
                if each[1:] != [{"text": "started"}]
            ]
        )
        times = [event.timestamp for event in events]
        content = types.Content(role="model", parts=[types.Part(text="s")])
        span = EventCompaction(start_timestamp=min(times), end_timestamp=max(times), compacted_content=content)
        return Event(author="user", invocation_id=Event.new_id(), actions=EventActions(compaction=span))


def answer_to_oldest(events: list[Event]) -> types.Content:
    """Return the person's answer to the first call that waits."""
    answered = {response.id for event in events if event.author == "user" for response in event.get_function_responses()}
    call = next(
        call
        for event in events
        for call in event.get_function_calls()
        if call.id in (event.long_running_tool_ids or ()) and call.id not in answered
    )
    given = {"confirmed": True} if call.name == "adk_request_confirmation" else {"done": True}
    response = types.FunctionResponse(id=call.id, name=call.name, response=given)
    return types.Content(role="user", parts=[types.Part(function_response=response)])


async def session_of(turns: list[str], *, resumable: bool, overlap: int) -> dict[str, Any]:
    """Return what was summed up, and the names and texts of the last request to the model."""
    model = scripted()
    tools = [look, fail, FunctionTool(erase, require_confirmation=True), LongRunningFunctionTool(wait), LongRunningFunctionTool(quiet)]
    summarizer = Noting()
    app = App(
        name="app",
        root_agent=LlmAgent(name="agent", model=model, tools=tools),
        events_compaction_config=EventsCompactionConfig(compaction_interval=2, overlap_size=overlap, summarizer=summarizer),
        resumability_config=ResumabilityConfig(is_resumable=resumable),
    )
    service = InMemorySessionService()
    runner = Runner(app=app, session_service=service)
    names = {"app_name": "app", "user_id": "u", "session_id": "s"}
    await service.create_session(**names)
    for number, turn in enumerate(turns):
        session = await service.get_session(**names)
        message = answer_to_oldest(session.events) if turn == "answer" else types.UserContent(f"{turn} {number}")
        model.replies[:] = TURNS[turn]
        try:
            async for _ in runner.run_async(user_id="u", session_id="s", new_message=message):
                pass
        except Exception as error:
            assert "fail" in turn, f"{turn}: {error}"
    told = [part[:2] if isinstance(part, list) else part["text"] for content in model.requests[-1]["contents"] for part in content["parts"]]
    return {"summed up": summarizer.seen, "told": [each for each in told if not str(each).startswith(OUR_HEADING)]}


async def main() -> dict[str, Any]:
    """Return all sessions."""
    return {
        f"{name}, {'resumable' if resumable else 'not resumable'}, overlap {overlap}": await session_of(
            turns, resumable=resumable, overlap=overlap
        )
        for (name, turns), (resumable, overlap) in itertools.product(SESSIONS.items(), ((False, 1), (True, 0)))
    }


if __name__ == "__main__":
    print_result(main)

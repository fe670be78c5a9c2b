"""Runs of agents as tools that wait for an answer, kept in the caller's session until it comes.

When such a run pauses, its caller commits an event that asks the user the same questions. The event also keeps the run's own events, as
`INNER_RUN` in its metadata: one commit, so that there is never a question whose run is lost. The answer runs the caller's call again, which
continues the kept run.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from google.genai import types
from pydantic import ValidationError

from runtime.contexts.context import ToolContext
from runtime.contexts.invocation_context import InvocationContext
from runtime.errors.known_error import KnownError
from runtime.errors.tool_error import ToolError
from runtime.events.event import Event
from runtime.events.marks import INNER_RUN, REQUEST_CALLS, inner_run
from runtime.history.rewound import without_rewound
from runtime.history.turns import asked_name, closes_turn
from runtime.sessions.event_codec import encode_event
from runtime.sessions.in_memory_session_service import InMemorySessionService
from runtime.sessions.session import Session

logger = logging.getLogger(__name__)

MAX_KEPT = 4_000_000  # characters of JSON that one event keeps of a run: each reader of the session decodes them


class InnerPause(KnownError):
    """Raised by an agent that runs as a tool when it waits for an answer; the call that it runs in turns it into a question to the user.

    Attributes:
        agent: the agent's name.
        questions: its calls that the user has not been asked yet.
        kept: what the asking event keeps of the run.
        receipt: the result of the call until the answer comes.
    """

    def __init__(
        self, agent: str, waiting: Sequence[types.FunctionCall], questions: list[types.FunctionCall], kept: dict[str, Any]
    ) -> None:
        self.agent = agent
        self.questions = questions
        self.kept = kept
        message = f"{agent} is not finished: {waits(waiting)}. It continues when the answer comes."
        self.receipt = {"status": "pending", "message": message}
        super().__init__(
            f"{message} Only a call by an agent's model can wait for it: call {agent} by an AgentTool among an LlmAgent's tools."
        )


@dataclass(slots=True)
class KeptRun:
    """An agent's run that waited for an answer.

    Attributes:
        events: its events so far.
        asked: ids of its calls that the user was asked to answer.
        answers: the user's answers that it has not read yet.
    """

    events: list[Event] = field(default_factory=list)
    asked: set[str | None] = field(default_factory=set)
    answers: list[types.FunctionResponse] = field(default_factory=list)

    @property
    def message(self) -> types.Content | None:
        """The answers as the user's message to the agent; None if there are none."""
        parts = [types.Part(function_response=answer) for answer in self.answers]
        return types.Content(role="user", parts=parts) if parts else None


class InnerSessions(InMemorySessionService):
    """The sessions of one run of an agent as a tool.

    A run that continues after an answer also keeps the results of its own calls, so that a crash does not repeat them.

    Args:
        tool_context: the call that the agent runs in.
        agent: the agent's name.
        request: what it was asked to do.
        kept: what is kept of the run already; None for a new run.
    """

    def __init__(self, tool_context: ToolContext, agent: str, request: str, kept: KeptRun | None) -> None:
        super().__init__()
        self._outer = tool_context._invocation_context
        self._mark = {"call": tool_context.function_call_id, "agent": agent, "request": request}
        self._number_kept = len(kept.events) if kept is not None else 0
        self._keeps_results = kept is not None and self._outer.is_resumable and self._outer.shared.commit is not None

    async def append_event(self, session: Session, event: Event) -> Event:
        """See `BaseSessionService.append_event`."""
        committed = await super().append_event(session, event)
        has_result = event.author != "user" and (event.get_function_responses() or inner_run(event) is not None)
        if self._keeps_results and has_result and len(session.events) > self._number_kept:
            try:
                kept = self.unkept(session)
            except ToolError as error:
                logger.warning("A crash would repeat calls of %s: %s", self._mark["agent"], error)
            else:
                outer, commit = self._outer, self._outer.shared.commit
                assert commit is not None
                mark = {INNER_RUN: {**kept, "is_progress": True}}
                await commit(
                    outer, Event(invocation_id=outer.invocation_id, author=outer.agent.name, branch=outer.branch, custom_metadata=mark)
                )
                self._number_kept = len(session.events)
        return committed

    def unkept(self, session: Session) -> dict[str, Any]:
        """Return what the caller's next event is to keep: the events since the last one that kept some.

        Raises:
            ToolError: they are too long.
        """
        texts = [encode_event(event) for event in session.events[self._number_kept :]]
        length = sum(map(len, texts))
        if length > MAX_KEPT:
            raise ToolError(
                f"The events of {self._mark['agent']} are too long to be kept while it waits: {length:,} characters, and {MAX_KEPT:,} are"
                " kept. Ask it for less in one call."
            )
        return {**self._mark, "events": [_without_answers(json.loads(text)) for text in texts]}


def _without_answers(row: dict[str, Any]) -> dict[str, Any]:
    """Return a run's event without what the user answered, such as a credential: that is in the caller's session, once."""
    for part in ((row.get("content") or {}).get("parts") or ()) if row["author"] == "user" else ():
        if "function_response" in part:
            part["function_response"]["response"] = {}
    return row


def kept_run(ctx: InvocationContext, call_id: str | None, agent: str, request: str) -> KeptRun | None:
    """Return the run that a call continues; None if it begins a new one.

    Raises:
        ToolError: the run was kept, and cannot be read.
    """
    kept, rows, given = KeptRun(), list[Any](), dict[str | None, types.FunctionResponse]()
    for event in _past(ctx):
        mark = inner_run(event)
        if mark is not None and (mark["call"], mark.get("agent"), mark.get("request")) == (call_id, agent, request):
            rows += mark.get("events") or ()
            kept.asked.update(call.id for call in event.get_function_calls())
        elif event.author == "user":
            given.update((response.id, response) for response in event.get_function_responses() if response.id in kept.asked)
    if not kept.asked:
        return None
    try:
        kept.events = [Event.model_validate_json(json.dumps(row)) for row in rows]
    except (ValidationError, TypeError, ValueError) as error:
        raise _lost(agent, "its events cannot be read") from error
    if not kept.events or kept.events[0].author != "user":
        raise _lost(agent, "its events are no longer in this session")
    for read in (response for event in kept.events if event.author == "user" for response in event.get_function_responses()):
        answer = given.pop(read.id, None)
        read.response = answer.response if answer is not None else read.response
    kept.answers = list(given.values())
    return kept


def _lost(agent: str, why: str) -> ToolError:
    return ToolError(f"{agent} cannot continue after the answer: {why}. Nothing that it waited for was done. Call it again.")


def _past(ctx: InvocationContext) -> Sequence[Event]:
    """Return the events that may keep a run, without reading a long session for a call that is new."""
    if ctx.is_resumable:
        return ctx.invocation_events() if ctx.shared.resumed is not None else ()
    answers = any(part.function_response for part in (ctx.user_content.parts if ctx.user_content else None) or ())
    return without_rewound(ctx.session.events) if answers else ()


def open_questions(events: Sequence[Event], *, is_resumable: bool) -> list[types.FunctionCall]:
    """Return the calls that wait for the user at the end of a run.

    Args:
        events: the run's events.
        is_resumable: whether the app is resumable. In others, an agent continues after the receipt of a long-running tool.
    """
    receipts = {response.id for event in events if event.author != "user" for response in event.get_function_responses()}
    answered = {response.id for event in events if event.author == "user" for response in event.get_function_responses()}
    return [
        call
        for index, event in enumerate(events)
        for call in (event.get_function_calls() if event.long_running_tool_ids else ())
        if call.id in (event.long_running_tool_ids or ())
        and call.id not in answered
        and (is_resumable or call.name in REQUEST_CALLS or call.id not in receipts or not _has_gone_on(event, events[index + 1 :]))
    ]


def _has_gone_on(asking: Event, later: Sequence[Event]) -> bool:
    return any(
        event.author == asking.author
        and event.branch == asking.branch
        and event.content is not None
        and not event.actions.skip_summarization
        and not event.long_running_tool_ids
        and closes_turn(event)
        for event in later
    )


def waits(waiting: Sequence[types.FunctionCall]) -> str:
    """Return what a run waits for, as a part of a sentence."""
    return f"its call of {', '.join(dict.fromkeys(map(asked_name, waiting)))} waits for an answer"

"""google-adk's evaluation data: eval sets, their cases, and results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from runtime.events.event import Event

EVAL_SESSION_PREFIX = "adk-eval-session-"  # of the sessions in which cases run
_OLD_PREFIX = "___eval___session___"  # google-adk's until 2.10


def is_eval_session(session_id: str) -> bool:
    """Return whether a session was made by an evaluation."""
    return session_id.startswith((EVAL_SESSION_PREFIX, _OLD_PREFIX))


class _Data(BaseModel):
    # Fields that only newer versions of google-adk know are kept.
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")


class InvocationEvent(_Data):
    """An event of an expected or actual invocation.

    Attributes:
        author: the agent.
        content: what it said, called or received.
    """

    author: str
    content: types.Content | None = None


class Steps(_Data):
    """What happened between question and answer, in google-adk's newer or older form.

    Attributes:
        invocation_events: all of it (newer form).
        tool_uses, tool_responses, intermediate_responses: by kind (older form).
    """

    invocation_events: list[InvocationEvent] | None = None
    tool_uses: list[types.FunctionCall] | None = None
    tool_responses: list[types.FunctionResponse] | None = None
    intermediate_responses: list[Any] | None = None

    @property
    def calls(self) -> list[types.FunctionCall]:
        """The function calls, in order."""
        parts = [part for event in self.invocation_events or [] if event.content for part in event.content.parts or []]
        return [*(self.tool_uses or []), *(part.function_call for part in parts if part.function_call)]


class Invocation(_Data):
    """A question and its answer.

    Attributes:
        invocation_id: of the invocation it was made from.
        user_content: the question.
        final_response: the answer.
        intermediate_data: what happened in between.
        creation_timestamp: epoch seconds.
    """

    invocation_id: str = ""
    user_content: types.Content
    final_response: types.Content | None = None
    intermediate_data: Steps | None = None
    creation_timestamp: float = 0.0

    @property
    def calls(self) -> list[types.FunctionCall]:
        """The function calls, in order."""
        return self.intermediate_data.calls if self.intermediate_data is not None else []


class SessionInput(_Data):
    """The session in which a case runs.

    Attributes:
        app_name, user_id: its app and user.
        state: its initial state.
    """

    app_name: str
    user_id: str
    state: dict[str, Any] = Field(default_factory=dict)


class EvalCase(_Data):
    """A conversation to repeat and to compare.

    Attributes:
        eval_id: its name.
        conversation: the invocations; None for a scenario, which a simulated user plays.
        conversation_scenario: the scenario.
        session_input: the session to begin with.
        creation_timestamp: epoch seconds.
        final_session_state: the state expected at the end.
    """

    eval_id: str
    conversation: list[Invocation] | None = None
    conversation_scenario: dict[str, Any] | None = None
    session_input: SessionInput | None = None
    creation_timestamp: float = 0.0
    final_session_state: dict[str, Any] | None = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_one(self) -> EvalCase:
        if (self.conversation is None) == (self.conversation_scenario is None):
            raise ValueError("Exactly one of conversation and conversation_scenario must be provided in an EvalCase.")
        return self


class EvalSet(BaseModel):
    """A file of cases.

    Attributes:
        eval_set_id, name: the file's name.
        description: for people.
        eval_cases: the cases.
        creation_timestamp: epoch seconds.
    """

    model_config = ConfigDict(extra="allow")

    eval_set_id: str
    name: str | None = None
    description: str | None = None
    eval_cases: list[EvalCase]
    creation_timestamp: float = 0.0


def invocations_of(events: Iterable[Event]) -> list[Invocation]:
    """Return a session's events as questions and answers, by google-adk's rules."""
    groups: dict[str, list[Event]] = {}
    for event in events:
        groups.setdefault(event.invocation_id, []).append(event)
    return [_invocation(invocation_id, group) for invocation_id, group in groups.items()]


def _invocation(invocation_id: str, events: list[Event]) -> Invocation:
    asked = next((event for event in reversed(events) if event.author == "user" and event.content), None)
    ours = [event for event in events if event.author != "user" and event.content and event.content.parts]
    final = [event for event in ours if event.is_final_response()]
    # Of several answers, the last one with a text; the answer's own text is not repeated among the steps.
    last = next((event for event in reversed(final) if _has_text(event)), final[-1] if final else None)
    steps = [
        InvocationEvent(author=event.author, content=event.content if event is not last or event.get_function_calls() else None)
        for event in ours
    ]
    return Invocation(
        invocation_id=invocation_id,
        user_content=asked.content if asked is not None and asked.content else types.Content(parts=[]),
        final_response=last.content if last is not None else None,
        intermediate_data=Steps(invocation_events=steps),
        creation_timestamp=asked.timestamp if asked is not None else 0.0,
    )


def _has_text(event: Event) -> bool:
    return any(part.text for part in (event.content.parts if event.content else None) or [])

"""Repeating a recorded run in a fork, with an agent in a child process. As `runtime/forks/rerun.py` does for an agent in this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from google.genai import types

from runtime.events.event import Event
from runtime.forks.recorded_answers import NOT_ASKED, RecordedAnswers
from runtime.forks.recording import Recording
from runtime.forks.replay import ended, is_request, recorded_effects, recorded_response, recorded_result
from runtime.models.llm_response import LlmResponse
from runtime.running.invocation_start import answered_calls, call_event
from runtime.sessions.session_key import SessionKey

if TYPE_CHECKING:
    from inspector_app.engines.child_engine import ChildEngine


class ChildReplay:
    """Answers the places that a child reports from a recording, as fields of `go`.

    Args:
        recording: the recording to repeat.
        runs_tools, strict: see `runtime.forks.replay.Replay`.
    """

    def __init__(self, recording: Recording, *, runs_tools: bool = False, strict: bool = False) -> None:
        self.answers = RecordedAnswers(recording, exact=strict or runs_tools)
        self._runs_tools = runs_tools
        self._strict = strict
        self.new_ids: dict[str, str] = {}  # id of a recorded call that asks a person something → that of its repetition

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a place; None if the call is to be made."""
        agent, branch, call_id = message.get("agent") or "", message.get("branch"), message.get("call_id")
        if message["place"] == "before model":
            event = self.answers.of_model(agent, branch)
            if event is None and self._strict:
                return {"response": ended(self.answers, agent).model_dump(mode="json", exclude_none=True)}
            if event is None:
                return None
            response = LlmResponse(**recorded_response(event)).model_dump(mode="json", exclude_none=True)
            return {"response": response, **self._common(event, None)}
        if message["place"] == "before tool" and not self._runs_tools:
            event = self.answers.of_tool(message["tool"], agent, branch, call_id)
            if event is None:
                return None
            result = recorded_result(event, call_id)
            return {"result": result if result is not None else {}, **self._common(event, call_id)}
        return None

    def committed(self, event: Event) -> None:
        """Take over an event of the run that is committed."""
        counterpart = self.answers.take_counterpart(event)
        if counterpart is not None and is_request(counterpart):
            calls = zip(counterpart.get_function_calls(), event.get_function_calls(), strict=False)
            self.new_ids.update({old.id or "": new.id or "" for old, new in calls})

    def _common(self, event: Event, call_id: str | None) -> dict[str, Any]:
        actions = event.actions.model_copy(update=recorded_effects(event.actions, call_id))
        effects = actions.model_dump(mode="json", exclude_none=True, include=set(recorded_effects(event.actions, call_id)))
        return {"actions": {name: value for name, value in effects.items() if value != {}}, "marks": self.answers.marks_of(event)}


class ChildRerun:
    """One repeated run.

    Attributes:
        answers: how many answers came from the recording, and where the run diverged.

    Args:
        engine: runs the agent.
        key: the fork, made before `recording.first_event_id`.
        recording: the recording to repeat.
        before_each: called before each run of the agent.
        runs_tools, strict: see `runtime.forks.replay.Replay`.
    """

    def __init__(
        self,
        engine: ChildEngine,
        key: SessionKey,
        recording: Recording,
        before_each: Callable[[], None],
        *,
        runs_tools: bool = False,
        strict: bool = False,
    ) -> None:
        self._replay = ChildReplay(recording, runs_tools=runs_tools, strict=strict)
        self.answers = self._replay.answers
        self._engine = engine
        self._key = key
        self._recording = recording
        self._before_each = before_each

    async def events(self) -> AsyncGenerator[Event, None]:
        """Run it and yield its events. See `Rerun.events`."""
        invocation_id = ""
        for number, message in enumerate(self._recording.messages):
            content = self._with_new_ids(message.content)
            if number and not await self._is_requested(content):
                self.answers.divergences.append(NOT_ASKED)
                return
            self._before_each()
            resumed = invocation_id if self._engine.why_not("resume") is None else ""
            run = self._engine.run(self._key, content, resumed or None, state_delta=message.actions.state_delta, replay=self._replay)
            async with aclosing(run) as events:
                async for event in events:
                    invocation_id = event.invocation_id
                    yield event

    def _with_new_ids(self, content: types.Content | None) -> types.Content | None:
        content = content and content.model_copy(deep=True)
        for part in (content and content.parts) or ():
            answer = part.function_response
            if answer is not None:
                answer.id = self._replay.new_ids.get(answer.id or "", answer.id or "")
        return content

    async def _is_requested(self, answer: types.Content | None) -> bool:
        found = await self._engine.session(self._key)
        return found is not None and call_event(found[1], answered_calls(answer)) is not None

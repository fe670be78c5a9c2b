"""Recorded answers for a run that is repeated in a child process, as `runtime/forks/replay.py` gives them in this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runtime.events.event import Event
from runtime.forks.recorded_answers import RecordedAnswers
from runtime.forks.recording import Recording
from runtime.forks.replay import ended, is_request, recorded_effects, recorded_response, recorded_result
from runtime.models.llm_response import LlmResponse


class ChildReplay:
    """Answers the places that a child reports from a recording, as fields of `go`; see `runtime.forks.replay.Replay`."""

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

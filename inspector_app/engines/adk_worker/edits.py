"""The user's changes, until they are recorded in the events that they led to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

EDITED = "inspector_edited"  # key in an event's custom_metadata; see runtime/events/marks.py

if TYPE_CHECKING:
    ModelCall = tuple[str, str, str | None]
    """What a model call and its event have in common: the invocation, the agent and the branch."""


class Edits:
    """The changes of one run, by model call and by tool call."""

    def __init__(self) -> None:
        self._of_models: dict[ModelCall, dict[str, Any]] = {}
        self._of_tools: dict[str, dict[str, Any]] = {}
        self._marks: dict[Any, dict[str, Any]] = {}

    def add_to_model(self, call: ModelCall, edits: dict[str, Any]) -> None:
        """Keep what the user changed of a model call."""
        self._of_models[call] = edits

    def add_to_tool(self, call_id: str, edits: dict[str, Any]) -> None:
        """Keep what the user changed of a tool call, beside earlier changes."""
        self._of_tools[call_id] = {**self._of_tools.get(call_id, {}), **edits}

    def add_marks(self, call: Any, marks: dict[str, Any]) -> None:
        """Keep the marks of a recorded answer.

        Args:
            call: the id of a tool call, or a ModelCall.
            marks: fields of the event's `custom_metadata`.
        """
        self._marks[call] = marks

    def record(self, event: Any) -> None:
        """Write what belongs to an event into it, before it is committed."""
        edits: dict[str, Any] = {}
        responses = [response.id for response in event.get_function_responses()]
        call: ModelCall = (event.invocation_id, event.author, event.branch)
        tools = {number: self._of_tools.pop(number) for number in responses if number in self._of_tools}
        if tools:
            edits["calls"] = tools
        if not responses:
            edited = self._of_models.pop(call, None)
            if edited is not None:
                edits["model"] = edited
        marks: dict[str, Any] = {EDITED: edits} if edits else {}
        for key in responses or [call]:
            marks.update(self._marks.pop(key, {}))
        if marks:
            event.custom_metadata = {**(event.custom_metadata or {}), **marks}

    def take_rest(self) -> dict[str, Any]:
        """Drop everything; return the changes that no event has recorded."""
        rest: dict[str, Any] = {"calls": dict(self._of_tools)} if self._of_tools else {}
        if self._of_models:
            rest["model"] = next(reversed(self._of_models.values()))
        for kept in (self._of_models, self._of_tools, self._marks):
            kept.clear()
        return rest

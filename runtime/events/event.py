"""The unit of a session's history."""

from __future__ import annotations

import time
from typing import Any

from google.genai import _transformers, types
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from runtime.events.event_actions import EventActions
from runtime.events.final_response import is_final_response
from runtime.models.llm_response import LlmResponse
from runtime.support.ids import new_uuid

SHORT_NAMES = frozenset({"message", "state", "route", "node_path", "node_info", "nodeInfo"})


class NodeInfo(BaseModel):
    """The node of a workflow graph that emitted an event. Graphs run on the google-adk engine; stored events have it here too.

    Attributes:
        path: the names of the graph and the nodes in it, with their runs, such as `graph/node@1`; empty outside graphs.
        output_for: paths of other nodes whose output the event has too.
        message_as_output: whether the event's content is the node's output.
    """

    model_config = ConfigDict(extra="allow", alias_generator=to_camel, populate_by_name=True)

    path: str = ""
    output_for: list[str] | None = None
    message_as_output: bool | None = None

    @property
    def name(self) -> str:
        """The node's name, without its run."""
        return _step(self.path, 0)[0]

    @property
    def run_id(self) -> str:
        """The node's run; empty if the path names none."""
        return _step(self.path, 0)[1]

    @property
    def parent_run_id(self) -> str | None:
        """The run of the node above; None at the top."""
        return _step(self.path, 1)[1] or None


def _step(path: str, above: int) -> tuple[str, str]:
    steps = path.split("/")
    name, _, run = (steps[-1 - above] if above < len(steps) else "").partition("@")
    return name, run


class Event(LlmResponse):
    """One atomic occurrence in an invocation.

    Args:
        message: the content, in any form that google-genai accepts: a string, a part, a list of these, or a `Content`.
        state: the state delta of the actions.
        route: the route of the actions.
        node_path: the path in `node_info`.

    Attributes:
        invocation_id: the invocation it belongs to; the Runner fills it in if empty.
        author: `user`, or the name of the agent that yielded it, which fills it in if empty.
        actions: its side effects.
        output: the author's result as data, JSON. google-adk 1.x cannot read an event that has one.
        long_running_tool_ids: ids of this event's calls to long-running tools.
        isolation_scope: google-adk 2's mark of a task's own events; None elsewhere.
        branch: the agent's path below parallel agents, such as `parallel.child`; siblings do not see each other's events.
        id: unique within the session.
        timestamp: epoch seconds.
    """

    invocation_id: str = ""
    author: str = ""
    actions: EventActions = Field(default_factory=EventActions)
    output: Any | None = None
    long_running_tool_ids: set[str] | None = None
    branch: str | None = None
    isolation_scope: str | None = None
    id: str = Field(default_factory=new_uuid)
    timestamp: float = Field(default_factory=time.time)

    @model_validator(mode="before")
    @classmethod
    def _take_short_names(cls, data: Any) -> Any:
        if type(data) is not dict or SHORT_NAMES.isdisjoint(data):
            return data
        data = dict(data)
        if "message" not in cls.model_fields and (message := data.pop("message", None)) is not None:
            if data.get("content") is not None:
                raise ValueError("An Event takes either message or content; they are mutually exclusive.")
            data["content"] = _transformers.t_content(message)
        state, route = data.pop("state", None), data.pop("route", None)
        short = {name: value for name, value in (("state_delta", state), ("route", route)) if value is not None}
        if short:
            given = data.get("actions")
            if given is None or isinstance(given, dict):
                data["actions"] = {**(given or {}), **short}
            elif isinstance(given, EventActions):
                data["actions"] = given.model_copy(update=short)
        info, path = data.pop("nodeInfo", None) or data.pop("node_info", None), data.pop("node_path", None)
        if info is not None or path is not None:
            data["node_info"] = _stored(info, path)
        return data

    @property
    def node_info(self) -> NodeInfo:
        """Where in a workflow graph the event comes from; stored only if it comes from one, as google-adk 1.x refuses the field."""
        return NodeInfo.model_validate((self.model_extra or {}).get("node_info") or {})

    @property
    def node_name(self) -> str:
        """The name of the graph's node that emitted the event; empty outside graphs."""
        return self.node_info.name

    @property
    def message(self) -> types.Content | None:
        """The content. A string, a part or a list of these can be assigned too. A subclass may have a field of this name instead."""
        return self.__dict__["message"] if "message" in type(self).model_fields else self.content

    @message.setter
    def message(self, message: Any) -> None:
        if "message" in type(self).model_fields:
            self.__dict__["message"] = message
            self.__pydantic_fields_set__.add("message")
        else:
            self.content = None if message is None else _transformers.t_content(message)

    @staticmethod
    def new_id() -> str:
        """Return a new event id."""
        return new_uuid()

    def has_trailing_code_execution_result(self) -> bool:
        """Return whether the content ends with the result of executed code."""
        return bool(self.content and self.content.parts and self.content.parts[-1].code_execution_result is not None)

    def is_final_response(self) -> bool:
        """Return whether the event is an agent's answer to show to the user.

        Follows google-adk, except that escalations, and events that carry actions without content, are not final.
        """
        return is_final_response(self)


def _stored(info: Any, path: str | None) -> Any:
    """Return a node's information as the JSON object that events keep."""
    found = NodeInfo.model_validate(info or {})
    if path is not None:
        found = found.model_copy(update={"path": path})
    return found.model_dump(mode="json", exclude_none=True)

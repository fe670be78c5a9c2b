"""Parts of a recorded request, whose JSON may be anything, as plain values. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runtime.debugger.request_recorder import RecordedRequest
from runtime.storage.recordings.recorded_call import RecordedModelRequest


def as_recorded(request: RecordedRequest, agent_texts: Mapping[str, Any]) -> RecordedModelRequest:
    """Return a request of this process as a recording has it."""
    config = request.config.model_dump(mode="json", exclude_none=True, fallback=str)
    contents = tuple(content.model_dump(mode="json", exclude_none=True) for content in request.contents)
    return RecordedModelRequest(request.model, config, contents, None, agent_texts)


def agent_texts(described: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return what an agent's author wrote, as a recording has it; empty if there is no such agent.

    Args:
        described: the root agent; see `AgentDescription.root`.
        name: the agent's name.
    """
    remaining = [described]
    for agent in remaining:
        if agent.get("name") == name:
            shared = (described.get("texts") or {}).get("global_instruction")
            return {"description": agent.get("description"), **(agent.get("texts") or {}), "global_instruction": shared}
        remaining += [*(agent.get("sub_agents") or ()), *(agent.get("tool_agents") or ())]
    return {}


def instruction_text(config: Mapping[str, Any]) -> str:
    """Return the system instruction as one text."""
    instruction = config.get("system_instruction")
    if isinstance(instruction, Mapping):
        return content_text(instruction)
    return instruction if isinstance(instruction, str) else "" if instruction is None else str(instruction)


def settings_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration without system instruction and tools."""
    return {name: value for name, value in config.items() if name not in ("system_instruction", "tools")}


def plain_tools(tools: Any) -> dict[str, Any]:
    """Return the declarations of tools by their names."""
    named: dict[str, Any] = {}
    for tool in tools if isinstance(tools, list) else []:
        declarations = tool.get("function_declarations") if isinstance(tool, dict) else None
        for declaration in declarations if isinstance(declarations, list) else []:
            if isinstance(declaration, dict):
                named[str(declaration.get("name", "?"))] = {name: value for name, value in declaration.items() if name != "name"}
        if not declarations:
            named[f"tool {len(named) + 1}"] = tool
    return named


def plain_content(content: Any) -> Any:
    """Return role → content: a string if there is only text, else the parts."""
    if not isinstance(content, dict):
        return content
    parts = content.get("parts")
    parts = parts if isinstance(parts, list) else []
    only_text = all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in parts)
    return {str(content.get("role", "?")): content_text(content) if only_text else parts}


def content_text(content: Mapping[str, Any]) -> str:
    """Return the texts of a content's parts, joined."""
    parts = content.get("parts")
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict)) if isinstance(parts, list) else ""

"""Requests to models, sent outside of any run."""

from __future__ import annotations

import importlib
import json
from typing import Any

from .errors import WorkerError


async def ask_model(root: Any, agent: str, asked: dict[str, Any], kind: Any) -> dict[str, Any]:
    """Send a request to an agent's model, outside of any run; return its last response.

    Args:
        root: the root agent.
        agent: the name of the agent below it whose model is asked.
        asked: the request, in the form of `request_json`.
        kind: the class LlmRequest of what runs the agent.

    Raises:
        WorkerError: there is no such agent, or no answer.
    """
    find = getattr(root, "find_agent", None)
    model = getattr(find(agent) if find is not None else None, "canonical_model", None)
    if model is None:
        raise WorkerError(f"The agent has no {agent!r} with a model.")
    types = importlib.import_module("google.genai.types")
    request = kind(
        model=asked.get("model"),
        contents=[types.Content.model_validate_json(json.dumps(content)) for content in asked.get("contents") or []],
        config=types.GenerateContentConfig.model_validate_json(json.dumps(asked.get("config") or {})),
    )
    last = None
    async for response in model.generate_content_async(request, stream=False):
        last = response
    if last is None:
        raise WorkerError("The model gave no answer.")
    fields = {"content", "usage_metadata", "model_version", "finish_reason", "error_code", "error_message"}
    answer: dict[str, Any] = json.loads(last.model_dump_json(exclude_none=True, include=fields & set(type(last).model_fields)))
    return answer

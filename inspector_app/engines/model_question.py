"""Asking an agent's model once more, outside of any run: nothing is stored, and no tool runs."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

from google.genai import types

from runtime.agents.base_agent import BaseAgent
from runtime.agents.llm_agent import LlmAgent
from runtime.errors.llm_error import LlmError
from runtime.errors.not_found_error import NotFoundError
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse

ANSWER_FIELDS = {"content", "usage_metadata", "model_version", "finish_reason", "error_code", "error_message"}


async def ask_model(root: BaseAgent, agent_name: str, request: dict[str, Any]) -> dict[str, Any]:
    """Send a request to the model of an agent below `root`; see `Agent.ask_model`.

    Raises:
        NotFoundError: there is no such agent with a model.
        LlmError: the model gave no answer.
        ValueError: the request is not one.
    """
    agent = root.find_agent(agent_name)
    if not isinstance(agent, LlmAgent):
        raise NotFoundError(f"The agent has no {agent_name!r} with a model.")
    asked = LlmRequest(
        model=request.get("model"),
        contents=[types.Content.model_validate(content) for content in request.get("contents") or ()],
        config=types.GenerateContentConfig.model_validate(request.get("config") or {}),
    )
    last: LlmResponse | None = None
    async with aclosing(agent.canonical_model.generate_content_async(asked, stream=False)) as responses:
        async for response in responses:
            last = response
    if last is None:
        raise LlmError("The model gave no answer.")
    answer: dict[str, Any] = json.loads(last.model_dump_json(include=ANSWER_FIELDS, exclude_none=True))
    return answer

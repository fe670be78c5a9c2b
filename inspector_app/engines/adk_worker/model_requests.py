"""Requests to models: as JSON, changed by the user, and sent outside of any run."""

from __future__ import annotations

import importlib
import json
from typing import Any

from . import google_adk
from .errors import WorkerError
from .json_text import to_json

NOT_JSON = "(not editable: a Python object)"


def request_json(request: Any) -> dict[str, Any]:
    """Return a request as JSON; objects that are not JSON are named instead."""
    config = {}
    if request.config is not None:
        for name in sorted(request.config.model_fields_set):
            if getattr(request.config, name) is not None:
                config[name] = _config_field(request.config, name)
    contents = [content.model_dump(mode="json", exclude_none=True) for content in request.contents]
    return {"model": request.model, "contents": contents, "config": config}


def _config_field(config: Any, name: str) -> Any:
    try:
        return json.loads(to_json(config.model_dump(mode="json", include={name}, exclude_none=True).get(name)))
    except Exception:  # pydantic, or the object's own code, may raise anything
        value = getattr(config, name)
        return f"{NOT_JSON[:-1]}, {value.__name__})" if isinstance(value, type) else NOT_JSON


def change_request(request: Any, after: dict[str, Any]) -> None:
    """Apply an edited JSON form to a request. Unchanged parts keep their objects."""
    types = importlib.import_module("google.genai.types")
    before = request_json(request)
    if after.get("model") != before["model"]:
        request.model = after.get("model")
    if after.get("contents") != before["contents"]:
        present = {json.dumps(value, sort_keys=True): content for value, content in zip(before["contents"], request.contents)}  # noqa: B905
        texts = [json.dumps(value, sort_keys=True) for value in after.get("contents") or []]
        request.contents = [present.get(text) or types.Content.model_validate_json(text) for text in texts]
    config = after.get("config") or {}
    changed = {name: value for name, value in config.items() if name not in before["config"] or value != before["config"][name]}
    update: dict[str, Any] = {name: None for name in before["config"] if name not in config}
    if changed or update:
        checked = types.GenerateContentConfig.model_validate_json(json.dumps(changed))
        update.update({name: getattr(checked, name) for name in checked.model_fields_set})
        request.config = request.config.model_copy(update=update)


async def ask_model(root: Any, agent: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Send a request to an agent's model, outside of any run; return its last response.

    Args:
        root: the root agent.
        agent: the name of the agent below it whose model is asked.
        asked: the request, in the form of `request_json`.

    Raises:
        WorkerError: there is no such agent, or no answer.
    """
    find = getattr(root, "find_agent", None)
    model = getattr(find(agent) if find is not None else None, "canonical_model", None)
    if model is None:
        raise WorkerError(f"The agent has no {agent!r} with a model.")
    types = importlib.import_module("google.genai.types")
    request = google_adk.required("google.adk.models.llm_request", "LlmRequest")(
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

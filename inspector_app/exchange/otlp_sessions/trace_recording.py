"""The model calls of traces, written into the recording beside their database, where the Request tab finds them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from google.genai import types
from pydantic import ValidationError

from inspector_app.engines.recorder_file import recorder_module, recorder_plugin
from inspector_app.exchange.otlp_sessions.contents import Message, json_in
from inspector_app.exchange.otlp_sessions.sessions import TracedCall
from inspector_app.support.otlp import OtlpSpan
from runtime.sessions.session_key import SessionKey

_INSTRUCTIONS = ("gen_ai.system_instructions", "gen_ai.agent.instructions")
_NUMBERED_TOOL = re.compile(r"llm\.tools\.\d{1,6}\.tool\.json_schema")
_TOOLS = ("gen_ai.tool.definitions", "gen_ai.request.tools")


def record_calls(file: Path, calls: Mapping[SessionKey, Sequence[TracedCall]]) -> None:
    """Write calls into a recording, and wait until they are written. Passwords and keys are replaced.

    Args:
        file: the recording.
        calls: the calls of each session; those without a request are left out.
    """
    recording = recorder_plugin(file).recording  # type: ignore[attr-defined]  # of the recorder's own file
    for key, made in calls.items():
        for call in made:
            if call.asked or _instruction(call.span):
                recording.add_model_call(_recorded(key, call))
    if any(calls.values()):
        recording.wait()


def _recorded(key: SessionKey, call: TracedCall) -> Any:
    event, span = call.event, call.span
    agent = SimpleNamespace(name=event.author)
    found = recorder_module().ModelCall(key, event.invocation_id, event.branch, agent, None, started=span.started)
    found.ended, found.error, found.event_id, found.model = span.ended - span.started, span.error, event.id, event.model_version
    found.contents = tuple(_content(message) for message in call.asked if message.role != "system")
    system = "\n\n".join(filter(None, [_instruction(span), *(message.text for message in call.asked if message.role == "system")]))
    found.config = types.GenerateContentConfig(system_instruction=system or None, tools=_tools(span) or None)
    answer = [_content(message) for message in call.answered]
    found.response = SimpleNamespace(content=next(iter(answer), None), usage_metadata=event.usage_metadata, finish_reason=None)
    return found


def _content(message: Message) -> dict[str, Any]:
    return {"role": "model" if message.role == "assistant" else "user", "parts": message.parts}


def _instruction(span: OtlpSpan) -> str:
    found = next((json_in(span.attributes[name]) for name in _INSTRUCTIONS if span.attributes.get(name)), "")
    parts = found if isinstance(found, list) else [found]
    texts = [part.get("content", part.get("text")) if isinstance(part, Mapping) else part for part in parts]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _tools(span: OtlpSpan) -> list[types.Tool]:
    """Return the declarations of the tools that the model could call."""
    found = next((json_in(span.attributes[name]) for name in _TOOLS if span.attributes.get(name)), None)
    numbered = [json_in(value) for name, value in span.attributes.items() if _NUMBERED_TOOL.fullmatch(name)]
    declared = []
    for one in found if isinstance(found, list) else numbered:
        about = one.get("function", one) if isinstance(one, Mapping) else {}
        schema = about.get("parameters", about.get("input_schema"))
        with suppress(ValidationError, AttributeError):
            declared.append(
                types.FunctionDeclaration(name=about.get("name"), description=about.get("description"), parameters_json_schema=schema)
            )
    return [types.Tool(function_declarations=declared)] if declared else []

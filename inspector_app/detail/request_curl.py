"""A recorded request as a command for the shell, to ask Gemini the same without the agent. No Qt."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from runtime.errors import KnownError
from runtime.storage.recordings.recorded_call import RecordedModelRequest

_ADDRESS = "https://generativelanguage.googleapis.com/v1beta/models"
_KEY = '"x-goog-api-key: $GEMINI_API_KEY"'  # the shell puts the key in; it is never part of the text

# Fields of google-genai's configuration that are no settings of the generation. Gemini's JSON takes these names as they are.
_OF_REQUEST = ("system_instruction", "tools", "tool_config", "safety_settings", "cached_content", "service_tier")
_OF_CLIENT = ("http_options", "should_return_http_response", "automatic_function_calling", "labels", "model_selection_config")


class NoCurlError(KnownError):
    """A request cannot be written as a command; the message says why."""


def curl_of(request: RecordedModelRequest) -> str:
    """Return a command for a POSIX shell, with `$GEMINI_API_KEY` in place of the key. No value of the request can run code.

    Raises:
        NoCurlError: the request went to a model that is not Gemini.
    """
    name = (request.model or "").rsplit("/", 1)[-1]
    if not name.startswith(("gemini", "gemma")):
        raise NoCurlError(f"Only requests to Gemini can be copied as cURL. This one was for {request.model or 'a model without a name'}.")
    body = _printable(json.dumps(_body(request), ensure_ascii=False, indent=1))
    address = f"{_ADDRESS}/{quote(name, safe='')}:generateContent"
    return f"curl {shlex.quote(address)} \\\n  -H {_KEY} \\\n  -H 'Content-Type: application/json' \\\n  -d {shlex.quote(body)}"


def _body(request: RecordedModelRequest) -> dict[str, Any]:
    config = {name: value for name, value in request.config.items() if value is not None and name not in _OF_CLIENT}
    body: dict[str, Any] = {"contents": list(request.contents)}
    body.update((name, config.pop(name)) for name in _OF_REQUEST if name in config)
    if isinstance(body.get("system_instruction"), str):
        body["system_instruction"] = {"parts": [{"text": body["system_instruction"]}]}
    if isinstance(body.get("tools"), list):
        body["tools"] = [tool for tool in body["tools"] if isinstance(tool, Mapping)]
    if config:
        body["generation_config"] = config
    return body


def _printable(text: str) -> str:
    """Escape characters that a terminal could take for commands."""
    return re.sub(r"[^\n]", lambda found: found[0] if found[0].isprintable() else _escaped(found[0]), text)


def _escaped(letter: str) -> str:
    return json.dumps(letter)[1:-1]  # also of those beyond U+FFFF, as two

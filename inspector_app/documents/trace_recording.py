"""google-adk's spans written into a recording, which the timeline and the Request tab read. No Qt.

A span names neither the app nor the user, so calls are recorded under the session's id alone. A tool's span names neither the session nor
the invocation: these are taken from a model call of the same trace, which may arrive later.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from inspector_app.engines.recorder_file import recorder_module
from inspector_app.support.otlp import OtlpSpan
from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.recordings.recording import Recording
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    import pydantic
    from google.genai import types
else:
    pydantic = lazy_module("pydantic")
    types = lazy_module("google.genai.types")

MODEL_OPERATIONS = ("generate_content", "chat", "text_completion")
_MERGED = "(merged tools)"  # google-adk's span of the joint result of tools
_MOST_TRACES = 10_000  # whose session is remembered, and whose tools may wait for it
_MOST_WAITING = 1_000  # tools of a trace
_CLOSE = 1e-4  # seconds between the begins of what is one call: a float of nanoseconds since 1970 is not exact


def key_of_traces(key: SessionKey) -> SessionKey:
    """Return the key under which the calls of a session are recorded from traces."""
    return SessionKey("", "", key.session_id)


def sessions_of(spans: Iterable[OtlpSpan]) -> set[str]:
    """Return the ids of the sessions whose model calls are among spans."""
    return {_place(span)[0] for span in spans if _is_model_call(span)} - {""}


class TraceRecorder:
    """Writes spans into a recording; any thread may call it.

    Args:
        file: the recording; created with the first call, readable by its owner only. Passwords and keys are replaced before that.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._writer: Any = None
        self._sessions: dict[str, tuple[str, str]] = {}  # trace → session, invocation
        self._agents: dict[str, str] = {}  # event → agent
        self._waiting: dict[str, list[OtlpSpan]] = {}  # trace → tools whose session is not known yet
        self._known: dict[str, set[tuple[str, int]]] = {}  # session → calls that are recorded

    def add(self, spans: Iterable[OtlpSpan]) -> int:
        """Record the model and tool calls among spans; return how many were new."""
        with self._lock:
            return sum(self._add(span) for span in spans)

    def wait(self) -> None:
        """Wait until all is written."""
        if self._writer is not None:
            self._writer.wait()

    def close(self) -> None:
        """Write what is waiting and close the file."""
        if self._writer is not None:
            self._writer.close()

    def _add(self, span: OtlpSpan) -> int:
        if _is_model_call(span):
            return self._add_model_call(span)
        if span.attributes.get("gen_ai.operation.name") == "execute_tool" and span.attributes.get("gen_ai.tool.name") != _MERGED:
            place = self._sessions.get(span.trace_id)
            if place is not None:
                return self._add_tool_call(span, *place)
            waiting = _kept(self._waiting, span.trace_id, [])
            if len(waiting) < _MOST_WAITING:
                waiting.append(span)
        return 0

    def _add_model_call(self, span: OtlpSpan) -> int:
        texts = _Texts(span.attributes)
        session, invocation = _place(span)
        event = texts["gcp.vertex.agent.event_id"]
        if not session:
            return 0
        _kept(self._sessions, span.trace_id, (session, invocation))
        agent = texts["gen_ai.agent.name"] or self._agents.get(event, "")
        if agent and event:
            _kept(self._agents, event, agent)
        added = 0
        if self._is_new(session, event, span):
            module = recorder_module()
            call = module.ModelCall(("", "", session), invocation, None, SimpleNamespace(name=agent or "?"), None, started=span.started)
            call.ended, call.error, call.event_id = span.ended - span.started, span.error, event or None
            call.model = texts["gen_ai.request.model"] or None
            call.contents, call.config, call.response = _request_of(texts, span.attributes)
            self._recording().add_model_call(call)
            added = 1
        waiting = self._waiting.pop(span.trace_id, ())
        return added + sum(self._add_tool_call(tool, session, invocation) for tool in waiting)

    def _add_tool_call(self, span: OtlpSpan, session: str, invocation: str) -> int:
        texts = _Texts(span.attributes)
        call_id = texts["gen_ai.tool.call.id"]
        if not self._is_new(session, call_id, span):
            return 0
        where = (("", "", session), invocation, None, texts["gen_ai.agent.name"] or "?")
        call = recorder_module().ToolCall(*where, texts["gen_ai.tool.name"] or "?", call_id or None, started=span.started)
        call.ended, call.error = span.ended - span.started, span.error
        self._recording().add_tool_call(call)
        return 1

    def _is_new(self, session: str, name: str, span: OtlpSpan) -> bool:
        known = self._known.get(session)
        if known is None:
            known = _kept(self._known, session, self._recorded(session))
        begin = round(span.started / _CLOSE)
        if any((name, near) in known for near in (begin - 1, begin, begin + 1)):
            return False
        known.add((name, begin))
        return True

    def _recorded(self, session: str) -> set[tuple[str, int]]:
        if not self._file.is_file():
            return set()
        try:
            with closing(Recording(self._file)) as recording:
                key = SessionKey("", "", session)
                found = [(call.event_id, call.started) for call in recording.model_calls(key)]
                found += [(call.call_id, call.started) for call in recording.tool_calls(key)]
        except StorageError:
            return set()  # the writer reports what is wrong with the file
        return {(name or "", round(started / _CLOSE)) for name, started in found}

    def _recording(self) -> Any:
        if self._writer is None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._writer = recorder_module().Recording(self._file)
        return self._writer


class _Texts:
    """The attributes that are texts; others are empty."""

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        self._attributes = attributes

    def __getitem__(self, name: str) -> str:
        value = self._attributes.get(name)
        return value if isinstance(value, str) else ""


def _is_model_call(span: OtlpSpan) -> bool:
    return span.name == "call_llm" or span.attributes.get("gen_ai.operation.name") in MODEL_OPERATIONS


def _place(span: OtlpSpan) -> tuple[str, str]:
    """Return the session and the invocation of a model call; both empty if one is not named."""
    texts = _Texts(span.attributes)
    session, invocation = texts["gen_ai.conversation.id"] or texts["gcp.vertex.agent.session_id"], texts["gcp.vertex.agent.invocation_id"]
    return (session, invocation) if session and invocation else ("", "")


def _request_of(texts: _Texts, attributes: Mapping[str, Any]) -> tuple[tuple[Any, ...], Any, Any]:
    """Return the contents, configuration and answer of a model call, as far as the span has them."""
    asked, answered = _json(texts["gcp.vertex.agent.llm_request"]), _json(texts["gcp.vertex.agent.llm_response"])
    contents = asked.get("contents") if isinstance(asked, dict) else None
    settings = asked.get("config") if isinstance(asked, dict) else None
    answer = answered.get("content") if isinstance(answered, dict) else None
    if not isinstance(contents, list):
        contents = _messages(texts["gen_ai.input.messages"])
        instruction = _parts_text(_json(texts["gen_ai.system_instructions"]))
        settings = {"system_instruction": instruction} if instruction else None
        answer = next(iter(_messages(texts["gen_ai.output.messages"])), None)
    response = SimpleNamespace(content=answer, usage_metadata=_usage(attributes), finish_reason=None)
    return tuple(contents), _config(settings), response


def _config(settings: object) -> types.GenerateContentConfig | None:
    try:
        return types.GenerateContentConfig.model_validate(settings) if isinstance(settings, dict) and settings else None
    except (pydantic.ValidationError, ValueError):
        return None


def _usage(attributes: Mapping[str, Any]) -> types.GenerateContentResponseUsageMetadata | None:
    def count(name: str) -> int | None:
        value = attributes.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

    prompt, output = count("gen_ai.usage.input_tokens"), count("gen_ai.usage.output_tokens")
    if prompt is None and output is None:
        return None
    return types.GenerateContentResponseUsageMetadata(
        prompt_token_count=prompt,
        cached_content_token_count=count("gen_ai.usage.cache_read.input_tokens"),
        candidates_token_count=output,
        total_token_count=(prompt or 0) + (output or 0),
    )


def _messages(text: str) -> list[dict[str, Any]]:
    """Return the contents of messages in the form of OpenTelemetry's conventions."""
    found = _json(text)
    messages = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return [{"role": _role(message), "parts": _parts(message)} for message in messages]


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    parts = message.get("parts")
    return [_part(part) for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _role(message: Mapping[str, Any]) -> str:
    return "model" if message.get("role") in ("assistant", "model") else "user"


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    kind = part.get("type")
    if kind == "tool_call":
        return {"function_call": {"id": part.get("id"), "name": part.get("name"), "args": part.get("arguments")}}
    if kind == "tool_call_response":
        return {"function_response": {"id": part.get("id"), "name": part.get("name"), "response": part.get("response", part.get("result"))}}
    content = part.get("content")
    return {"text": content if isinstance(content, str) else json.dumps(part)}


def _parts_text(found: object) -> str:
    parts = [one.get("content") for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return "\n\n".join(part for part in parts if isinstance(part, str))


def _json(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None


def _kept(found: dict[str, Any], name: str, value: Any) -> Any:
    """Return the value of a name, set if it is missing; the oldest is forgotten if there are too many."""
    if name not in found and len(found) >= _MOST_TRACES:
        found.pop(next(iter(found)))
    return found.setdefault(name, value)

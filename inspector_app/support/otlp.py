"""Spans of OpenTelemetry's protocol, from JSON or protobuf. No Qt.

What arrives is untrusted: a value of the wrong type is left out, and a span without ids or times too.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from runtime.errors.known_error import KnownError
from runtime.errors.missing_package_error import install_command
from runtime.support.bounded import TooMuchError, parse

_NANO = 1e-9
_FAILED = (2, "2", "STATUS_CODE_ERROR")
_SERVICE = "service.name"
_STACK = "Traceback (most recent call last)"  # where an error's text continues with lines of code
_DEEPEST = 20  # of an attribute's lists and maps
_MESSAGES = "opentelemetry.proto.collector.trace.v1.trace_service_pb2"
_NO_PROTOBUF = (
    "These traces are protobuf, which needs the package opentelemetry-proto. Send JSON, or install the package beside Agent Inspector: "
)


class OtlpError(KnownError):
    """What arrived is not traces in OpenTelemetry's protocol; the message says why."""


@dataclass(frozen=True, slots=True)
class OtlpSpan:
    """A span.

    Attributes:
        trace_id, span_id: hexadecimal.
        name: its name.
        started, ended: epoch seconds.
        attributes: plain values by name.
        error: why it failed; None if it did not.
        parent_id: the span it ran in; empty for none.
        service: the name of the service it is from; empty if that is not said.
        events: what happened in it: names and their attributes.
    """

    trace_id: str
    span_id: str
    name: str
    started: float
    ended: float
    attributes: Mapping[str, Any]
    error: str | None
    parent_id: str = ""
    service: str = ""
    events: Sequence[tuple[str, Mapping[str, Any]]] = ()


def spans_of_json(data: bytes) -> list[OtlpSpan]:
    """Return the spans of a request in JSON, or of a line of a file.

    Raises:
        OtlpError: it is not JSON, or something else.
    """
    try:
        found = parse(data)
    except TooMuchError as error:
        raise OtlpError(f"A request {error}, so it is not read.") from None
    except ValueError as error:
        raise OtlpError(f"The traces are no JSON: {error}.") from None
    if not isinstance(found, dict) or not isinstance(found.get("resourceSpans"), list):
        raise OtlpError("The traces have no “resourceSpans”, which OpenTelemetry's JSON has.")
    return [span for one, service in _spans(found) if (span := _span(one, service)) is not None]


def spans_of_protobuf(data: bytes) -> list[OtlpSpan]:
    """Return the spans of a request in protobuf.

    Raises:
        OtlpError: the package that reads it is missing, or it is something else.
    """
    try:
        messages, json_format = import_module(_MESSAGES), import_module("google.protobuf.json_format")
        decode_error = import_module("google.protobuf.message").DecodeError
    except ImportError:
        raise OtlpError(_NO_PROTOBUF + install_command(extra="otlp")) from None
    request = messages.ExportTraceServiceRequest()
    try:
        request.ParseFromString(data)
    except decode_error as error:
        raise OtlpError(f"The traces are no protobuf of OpenTelemetry: {error}.") from None
    found = json_format.MessageToDict(request)
    return [span for one, service in _spans(found) if (span := _span({**one, **_ids(one)}, service)) is not None]


def _ids(span: Mapping[str, Any]) -> dict[str, str]:
    """Return the ids of a span, which are Base64 in protobuf's own JSON, as OpenTelemetry's JSON has them."""
    return {name: b64decode(span[name]).hex() for name in ("traceId", "spanId", "parentSpanId") if name in span}


def _spans(request: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    for resource in _mappings(request.get("resourceSpans")):
        about = resource.get("resource")
        service = _json_map(about.get("attributes")).get(_SERVICE) if isinstance(about, Mapping) else None
        for scope in _mappings(resource.get("scopeSpans")):
            for span in _mappings(scope.get("spans")):
                yield span, service if isinstance(service, str) else ""


def _span(given: Mapping[str, Any], service: str) -> OtlpSpan | None:
    started, ended = _seconds(given.get("startTimeUnixNano")), _seconds(given.get("endTimeUnixNano"))
    trace, span = given.get("traceId"), given.get("spanId")
    if started is None or ended is None or ended < started or not isinstance(trace, str) or not isinstance(span, str):
        return None
    attributes = _json_map(given.get("attributes"))
    events = [(str(one.get("name", "")), _json_map(one.get("attributes"))) for one in _mappings(given.get("events"))]
    parent = given.get("parentSpanId")
    status = given.get("status")
    code, message = (status.get("code"), status.get("message")) if isinstance(status, dict) else (None, None)
    failure = _error(code, message, attributes, events)
    over = parent if isinstance(parent, str) else ""
    return OtlpSpan(trace, span, str(given.get("name", "")), started, ended, attributes, failure, over, service, events)


def _error(code: object, message: object, attributes: Mapping[str, Any], events: Sequence[tuple[str, Mapping[str, Any]]]) -> str | None:
    if code not in _FAILED:
        return None
    kind = attributes.get("error.type")
    if not message:
        raised = next((about for name, about in events if name == "exception"), {})
        kind, message = raised.get("exception.type") or kind, raised.get("exception.message")
    texts = dict.fromkeys(text.partition(_STACK)[0].strip() for text in (kind, message) if isinstance(text, str) and text)
    return ": ".join(filter(None, texts)) or "failed"


def _seconds(nanoseconds: object) -> float | None:
    try:
        return int(nanoseconds) * _NANO if isinstance(nanoseconds, (int, str)) else None
    except (ValueError, OverflowError):
        return None


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _json_value(given: object, depth: int = 0) -> Any:
    """Return an attribute's value; None for a value of no known kind."""
    if not isinstance(given, Mapping) or depth > _DEEPEST:
        return None
    for name, kind in (("stringValue", str), ("boolValue", bool), ("doubleValue", (int, float))):
        if isinstance(given.get(name), kind):
            return given[name]
    if "intValue" in given:
        try:
            return int(given["intValue"])
        except (ValueError, TypeError, OverflowError):
            return None
    if isinstance(mapped := given.get("kvlistValue"), Mapping):
        return _json_map(mapped.get("values"), depth + 1)
    listed = given.get("arrayValue")
    return [_json_value(one, depth + 1) for one in _mappings(listed.get("values"))] if isinstance(listed, Mapping) else None


def _json_map(given: object, depth: int = 0) -> dict[str, Any]:
    return {str(one.get("key", "")): _json_value(one.get("value"), depth) for one in _mappings(given)}

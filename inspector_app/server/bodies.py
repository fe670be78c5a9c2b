"""Request bodies: google-adk's JSON, in camelCase or snake_case."""

from __future__ import annotations

import asyncio
import json
import math
import re
from typing import Any, TypeVar

from google.genai import types
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator
from pydantic.alias_generators import to_camel
from starlette.requests import ClientDisconnect, Request

from runtime.errors import KnownError
from runtime.support.worker_threads import run_in_thread

LONGEST_BODY = 32 * 2**20  # bytes; a message may contain pictures
SECONDS_FOR_A_BODY = 30  # from its first byte to its last; on one machine, the largest takes less than one
# JSON values in a body. Parsing is C code that stops all other requests; so many take it less than 0.1 s.
MAX_VALUES = 200_000
MAX_DEPTH = 100  # brackets inside brackets
MAX_PARTS = 1_000  # of a message; validating more stops all other requests for longer than 0.1 s
MAX_PROBLEMS = 20  # listed in a response

_STRING_OR_VALUE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[,\[{]', re.DOTALL)
_BEFORE_A_PROBLEM = 200  # characters that are searched for a comma


class Body(BaseModel):
    """A request's JSON object."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class RunBody(Body):
    """The body of `/run` and `/run_sse`.

    Attributes:
        app_name, user_id, session_id: the session.
        new_message: the user's message, or a function response; None: resume `invocation_id`.
        invocation_id: the invocation to resume.
        state_delta: state changes committed with the message.
        streaming: whether the model streams.
        custom_metadata: added to every event of the run.
    """

    app_name: str
    user_id: str
    session_id: str
    new_message: types.Content | None = None
    invocation_id: str | None = None
    state_delta: dict[str, Any] | None = None
    streaming: bool = False
    custom_metadata: dict[str, Any] | None = None

    @field_validator("new_message", mode="before")
    @classmethod
    def _has_parts(cls, message: Any) -> Any:
        parts = message.get("parts") if isinstance(message, dict) else None
        if isinstance(message, dict) and not parts:
            raise ValueError("The message has no parts. Send at least one, such as a text.")
        if isinstance(parts, list) and len(parts) > MAX_PARTS:
            raise ValueError(f"The message has more than {MAX_PARTS:,} parts.")
        return message


class NewSessionBody(Body):
    """The body for a new session.

    Attributes:
        session_id: None for a generated id.
        state: the session's initial state.
        events: its first events, as JSON objects; each is validated when it is appended.
    """

    session_id: str | None = None
    state: dict[str, Any] | None = None
    events: list[dict[str, Any]] | None = None


class StateBody(Body):
    """A change to a session's state.

    Attributes:
        state_delta: key with scope prefix → value.
    """

    state_delta: dict[str, Any]


class BadBodyError(KnownError):
    """A request's body is not valid for the endpoint.

    Attributes:
        status: the HTTP status of the response.
        problems: each with its place, in the form of google-adk's server.
    """

    def __init__(self, status: int, problems: list[dict[str, Any]] | str) -> None:
        super().__init__("The body of the request cannot be used.")
        self.status = status
        self.problems = problems


B = TypeVar("B", bound=Body)


async def read_body(request: Request, kind: type[B]) -> B:
    """Return a request's body.

    Raises:
        BadBodyError: it is not JSON, or not of this kind; a missing body counts as an empty object.
    """
    body = await read_json(request)
    try:
        return await run_in_thread(kind.model_validate, body)
    except ValidationError as error:
        raise BadBodyError(422, [{**problem, "loc": ["body", *problem["loc"]]} for problem in problems_of(error)]) from None


def problems_of(error: ValidationError) -> list[dict[str, Any]]:
    """Return what is wrong, in the form of google-adk's server; of many problems, the first ones."""
    return [dict(problem) for problem in error.errors(include_url=False, include_context=False, include_input=False)[:MAX_PROBLEMS]]


async def read_json(request: Request) -> Any:
    """Return a request's JSON; an empty object if it has no body.

    Raises:
        BadBodyError: it is not JSON, or too long.
    """
    data = await _bytes_of(request)
    if not data.strip():
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        # A web page can send other content types without a preflight; this one it cannot.
        raise BadBodyError(422, _problem("body_type", [], "Send the body with the header Content-Type: application/json"))
    return await run_in_thread(_parsed, data)


async def _bytes_of(request: Request) -> bytes:
    found = bytearray()
    try:
        async with asyncio.timeout(SECONDS_FOR_A_BODY):
            async for piece in request.stream():
                found += piece
                if len(found) > LONGEST_BODY:
                    raise BadBodyError(413, f"The body is longer than {LONGEST_BODY} bytes.")
    except TimeoutError:
        raise BadBodyError(408, f"The body did not arrive within {SECONDS_FOR_A_BODY} s.") from None
    except ClientDisconnect:
        raise BadBodyError(400, "The client disconnected before it had sent the body.") from None
    return bytes(found)


def _parsed(data: bytes) -> Any:
    """Return the JSON value.

    Raises:
        BadBodyError: it is not JSON, is too deep, or has too many values, or text that cannot be stored.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadBodyError(422, _problem("json_invalid", [error.start], f"JSON decode error: {error}")) from None
    if _has_too_many_values(data):
        raise BadBodyError(413, f"The body has more than {MAX_VALUES:,} values.")
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise BadBodyError(422, _json_problem(error)) from None
    except (ValueError, RecursionError) as error:
        raise BadBodyError(422, _problem("json_invalid", [], f"JSON decode error: {error}")) from None
    if reason := _unusable(value):
        raise BadBodyError(422, _problem("json_invalid", [], f"JSON decode error: {reason}"))
    return value


def _has_too_many_values(data: bytes) -> bool:
    """Count the values without parsing them: each but the first follows a comma or an opening bracket outside of strings."""
    if sum(map(data.count, (b",", b"[", b"{"))) <= MAX_VALUES:
        return False
    values = 0
    for match in _STRING_OR_VALUE.finditer(data):
        values += data[match.start()] != 0x22
        if values > MAX_VALUES:
            return True
    return False


def _unusable(value: Any) -> str:
    """Return what makes a parsed value unusable; empty if nothing does."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item)
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
            elif isinstance(item, str) and not item.isascii() and any("\ud800" <= character <= "\udfff" for character in item):
                return "a text has half of a surrogate pair"
            elif isinstance(item, float) and not math.isfinite(item):
                return "a number is too large"
        if not below:
            return ""
        level = below
    return f"more than {MAX_DEPTH} brackets are inside one another"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _json_problem(error: json.JSONDecodeError) -> list[dict[str, Any]]:
    """Describe what is wrong and where; for a comma before a closing bracket, the place is the comma's own."""
    message, position = error.msg, error.pos
    start = max(0, position - _BEFORE_A_PROBLEM)
    comma = re.search(r",\s*[}\]]?\s*$", error.doc[start : position + 1])
    if comma and re.match(r",\s*[}\]]", error.doc[start + comma.start() : position + _BEFORE_A_PROBLEM]):
        message, position = "Remove the comma before the closing bracket", start + comma.start()
    line = error.doc.count("\n", 0, position) + 1
    column = position - (error.doc.rfind("\n", 0, position) + 1) + 1
    return _problem("json_invalid", [position], "JSON decode error", {"error": f"{message} (line {line}, column {column})"})


def _problem(kind: str, place: list[Any], message: str, ctx: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    return [{"type": kind, "loc": ["body", *place], "msg": message, **({"ctx": ctx} if ctx else {})}]

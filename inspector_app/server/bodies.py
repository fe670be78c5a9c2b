"""Request bodies: google-adk's JSON, in camelCase or snake_case."""

from __future__ import annotations

import json
import math
import re
from typing import Any, TypeVar

from fastapi import Depends
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from starlette.requests import Request

from inspector_app.server.body_bytes import UnreadBodyError, body_bytes
from runtime.errors import KnownError
from runtime.support.bounded import count_values
from runtime.support.worker_threads import run_in_thread

# JSON values in a body. Parsing is C code that stops all other requests; so many take it less than 0.1 s.
MAX_VALUES = 200_000
MAX_DEPTH = 100  # brackets inside brackets
MAX_PARTS = 1_000  # of a message; validating more stops all other requests for longer than 0.1 s
MAX_PROBLEMS = 20  # listed in a response
MAX_INPUT = 300  # characters of a wrong value that are sent back

_BEFORE_A_PROBLEM = 200  # characters that are searched for a comma


class Body(BaseModel):
    """A request's JSON object."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


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


B = TypeVar("B", bound=BaseModel)
SCHEMAS = "#/components/schemas/"  # of an OpenAPI document


def body_of(kind: type[BaseModel]) -> Any:
    """Return the annotation of an endpoint's parameter that receives the request's body, read with the limits of this module."""

    async def read(request: Request) -> Any:
        return await read_body(request, kind)

    return Depends(read)


def described(kind: type[BaseModel] | None = None) -> dict[str, Any]:
    """Return the OpenAPI description of an endpoint's body; the model itself is listed by the document.

    Args:
        kind: the body's model; None: a JSON object.
    """
    schema = {"$ref": f"{SCHEMAS}{kind.__name__}"} if kind is not None else {"type": "object"}
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}


async def read_body(request: Request, kind: type[B]) -> B:
    """Return a request's body; a missing one counts as an empty object.

    Raises:
        BadBodyError: it is not JSON, or not of this kind.
    """
    body = await read_json(request)
    try:
        return await run_in_thread(kind.model_validate, body)
    except ValidationError as error:
        raise BadBodyError(422, [{**problem, "loc": ["body", *problem["loc"]]} for problem in problems_of(error)]) from None


def problems_of(error: ValidationError) -> list[dict[str, Any]]:
    """Return what is wrong, in the form of google-adk's server; of many problems, the first ones, and only short inputs."""
    found = [dict(problem) for problem in error.errors(include_url=False, include_context=False)[:MAX_PROBLEMS]]
    for problem in found:
        if not _is_short(problem["input"]):
            del problem["input"]
    return found


def _is_short(value: Any) -> bool:
    """Return whether a parsed value takes little space as JSON; a long one is not walked to its end."""
    left, pending = MAX_INPUT, [value]
    while pending and left >= 0:
        item = pending.pop()
        if isinstance(item, dict | list):
            left -= 2 * len(item)
            if left >= 0:
                pending.extend(item.values() if isinstance(item, dict) else item)
                left -= sum(map(len, item)) if isinstance(item, dict) else 0
        elif isinstance(item, str):
            left -= len(item)
        elif not isinstance(item, int | float | bool | None):
            return False
    return left >= 0


async def read_json(request: Request) -> Any:
    """Return a request's JSON; an empty object if it has no body.

    Raises:
        BadBodyError: it is not JSON, or too long.
    """
    try:
        data = await body_bytes(request)
    except UnreadBodyError as error:
        raise BadBodyError(error.status, str(error)) from None
    if not data.strip():
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        # A web page can send other content types without a preflight; this one it cannot.
        raise BadBodyError(422, _problem("body_type", [], "Send the body with the header Content-Type: application/json"))
    return await run_in_thread(_parsed, data)


def _parsed(data: bytes) -> Any:
    """Return the JSON value.

    Raises:
        BadBodyError: it is not JSON, is too deep, or has too many values, or text that cannot be stored.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadBodyError(422, _problem("json_invalid", [error.start], f"JSON decode error: {error}")) from None
    if count_values(data, MAX_VALUES) > MAX_VALUES:
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

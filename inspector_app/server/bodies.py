"""Request bodies: google-adk's JSON, in camelCase or snake_case."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from starlette.requests import Request

from runtime.errors import KnownError

LONGEST_BODY = 32 * 2**20  # bytes; a message may contain pictures


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


class NewSessionBody(Body):
    """The body for a new session.

    Attributes:
        session_id: None for a generated id.
        state: the session's initial state.
    """

    model_config = ConfigDict(extra="forbid")

    session_id: str | None = None
    state: dict[str, Any] = Field(default_factory=dict)


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
    try:
        return kind.model_validate(await read_json(request))
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        raise BadBodyError(422, [{**problem, "loc": ["body", *problem["loc"]]} for problem in problems]) from None


async def read_json(request: Request) -> Any:
    """Return a request's JSON; an empty object if it has no body.

    Raises:
        BadBodyError: it is not JSON, or too long.
    """
    text = await _text_of(request)
    if not text.strip():
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        # A web page can send other content types without a preflight; this one it cannot.
        raise BadBodyError(422, _problem("body_type", [], "Send the body with the header Content-Type: application/json"))
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise BadBodyError(422, _json_problem(error)) from None
    except (ValueError, RecursionError) as error:
        raise BadBodyError(422, _problem("json_invalid", [], f"JSON decode error: {error}")) from None


async def _text_of(request: Request) -> str:
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > LONGEST_BODY:
            raise BadBodyError(413, f"The body is longer than {LONGEST_BODY} bytes.")
    try:
        return found.decode()
    except UnicodeDecodeError as error:
        raise BadBodyError(422, _problem("json_invalid", [error.start], f"JSON decode error: {error}")) from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _json_problem(error: json.JSONDecodeError) -> list[dict[str, Any]]:
    """Describe what is wrong and where; for a comma before a closing bracket, the place is the comma's own."""
    message, position = error.msg, error.pos
    before = error.doc[: position + 1]
    comma = re.search(r",\s*[}\]]?\s*$", before)
    if comma and re.match(r",\s*[}\]]", error.doc[comma.start() :]):
        message, position = "Remove the comma before the closing bracket", comma.start()
    line = error.doc.count("\n", 0, position) + 1
    column = position - (error.doc.rfind("\n", 0, position) + 1) + 1
    return _problem("json_invalid", [position], "JSON decode error", {"error": f"{message} (line {line}, column {column})"})


def _problem(kind: str, place: list[Any], message: str, ctx: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    return [{"type": kind, "loc": ["body", *place], "msg": message, **({"ctx": ctx} if ctx else {})}]

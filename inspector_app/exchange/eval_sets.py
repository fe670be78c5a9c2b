"""google-adk's eval sets (`*.evalset.json`, `*.test.json`), read as it reads them: its present form and both older ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from runtime.errors import KnownError
from runtime.support.bounded import read_json_file
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    import pydantic
    from google.genai import types
    from pydantic import alias_generators
else:
    alias_generators = lazy_module("pydantic.alias_generators")
    pydantic = lazy_module("pydantic")
    types = lazy_module("google.genai.types")

Json = dict[str, Any]
Model = TypeVar("Model", bound="pydantic.BaseModel")


class EvalSetError(KnownError):
    """A file that is no eval set; the message says where."""


@dataclass(frozen=True, slots=True)
class Step:
    """What an agent said or called before its final response.

    Attributes:
        author: the agent.
        content: the calls, results or texts; None where the final response came.
    """

    author: str
    content: types.Content | None


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation and what is expected of the agent.

    Attributes:
        invocation_id: as in the file; may be empty.
        message: what the user says.
        response: the final response; None if nothing is expected.
        steps: what comes before it.
        created: epoch seconds; 0 if the file does not say.
    """

    invocation_id: str
    message: types.Content
    response: types.Content | None
    steps: tuple[Step, ...]
    created: float

    @property
    def calls(self) -> list[types.FunctionCall]:
        """The tool calls, in order."""
        parts = [part for step in self.steps for part in (step.content.parts if step.content else None) or ()]
        return [part.function_call for part in parts if part.function_call]


@dataclass(frozen=True, slots=True)
class EvalCase:
    """A conversation to hold with an agent.

    Attributes:
        id: the case's id.
        turns: the conversation; empty for a case whose user is simulated by a model.
        app, user: names of the session's app and user, as far as the file has them.
        session_id: the session's id, if the case fixes it.
        state: the session's initial state.
        created: epoch seconds; 0 if the file does not say.
        is_simulated: whether a model plays the user.
    """

    id: str
    turns: tuple[Turn, ...]
    app: str | None = None
    user: str | None = None
    session_id: str | None = None
    state: Json = field(default_factory=dict)
    created: float = 0.0
    is_simulated: bool = False

    @property
    def has_answers(self) -> bool:
        """Whether a message answers a call: `adk eval` cannot run such a case."""
        return any(part.function_response for turn in self.turns for part in turn.message.parts or ())


@dataclass(frozen=True, slots=True)
class EvalSet:
    """The cases of a file, with the set's id."""

    id: str
    cases: tuple[EvalCase, ...]


def read_eval_set(file: Path) -> EvalSet:
    """Return the eval set in a file.

    Raises:
        EvalSetError: the file cannot be read, or is no eval set.
    """
    data = read_json_file(file, EvalSetError)
    if not is_eval_set(data):
        raise EvalSetError(f"{file} is no eval set: it needs a list of `eval_cases`.")
    return eval_set_of(data, file)


def is_eval_set(data: Any) -> bool:
    """Return whether JSON data is an eval set, in its present form or an older one."""
    if isinstance(data, dict):
        return isinstance(_get(data, "eval_cases"), list)
    return isinstance(data, list) and bool(data) and all(isinstance(one, dict) and ("query" in one or "data" in one) for one in data)


def eval_set_of(data: Any, file: Path) -> EvalSet:
    """Return the eval set of JSON data for which `is_eval_set` holds.

    Args:
        data: the data.
        file: where it is from, for messages and for the id of a set that has none.

    Raises:
        EvalSetError: something in it is not what it should be.
    """
    if isinstance(data, dict):
        cases = [
            _case(_object(one, file, f"case {number}"), file, f"case {number}") for number, one in enumerate(_get(data, "eval_cases"), 1)
        ]
        return EvalSet(str(_get(data, "eval_set_id") or file.name), _unique(cases, file))
    if "query" in data[0]:  # the oldest form: one conversation
        data = [{"name": file.name, "data": data}]
    return EvalSet(file.name, _unique([_old_case(one, file, f"case {number}") for number, one in enumerate(data, 1)], file))


def _unique(cases: list[EvalCase], file: Path) -> tuple[EvalCase, ...]:
    ids: set[str] = set()
    for case in cases:
        if case.id in ids:
            raise EvalSetError(f"{file}: the case {case.id!r} is there twice.")
        ids.add(case.id)
    return tuple(cases)


def _case(data: Json, file: Path, place: str) -> EvalCase:
    conversation, session = _get(data, "conversation"), _get(data, "session_input") or {}
    simulated = _get(data, "conversation_scenario") is not None
    if not simulated and not isinstance(conversation, list):
        raise EvalSetError(f"{file}, {place}: it needs a `conversation`.")
    name = _get(data, "eval_id")
    if not isinstance(name, str) or not name:
        raise EvalSetError(f"{file}, {place}: it needs an `eval_id`.")
    session = _object(session, file, f"{place}, `session_input`")
    turns = [turn_of(_object(one, file, f"{place}, turn {n}"), file, f"{place}, turn {n}") for n, one in enumerate(conversation or (), 1)]
    return EvalCase(
        name,
        tuple(turns),
        _word(_get(session, "app_name")),
        _word(_get(session, "user_id")),
        _word(_get(session, "session_id")),
        _object(_get(session, "state") or {}, file, f"{place}, `state`"),
        _seconds(_get(data, "creation_timestamp")),
        simulated,
    )


def turn_of(data: Json, file: Path, place: str) -> Turn:
    """Return an invocation of an eval case.

    Args:
        data: its JSON.
        file, place: where it is from, for messages.

    Raises:
        EvalSetError: something in it is not what it should be.
    """

    def content(value: Any, what: str) -> types.Content | None:
        return None if value is None else _valid(types.Content, value, file, f"{place}, `{what}`")

    message = content(_get(data, "user_content"), "user_content")
    if message is None:
        raise EvalSetError(f"{file}, {place}: it needs a `user_content`.")
    given = _object(_get(data, "intermediate_data") or {}, file, f"{place}, `intermediate_data`")
    steps: list[Step] = []
    if isinstance(events := _get(given, "invocation_events"), list):
        for one in events:
            event = _object(one, file, f"{place}, `invocation_events`")
            steps.append(Step(str(event.get("author") or "agent"), content(event.get("content"), "invocation_events")))
    else:
        steps = _steps(given, file, place)
    response = content(_get(data, "final_response"), "final_response")
    return Turn(str(_get(data, "invocation_id") or ""), message, response, tuple(steps), _seconds(_get(data, "creation_timestamp")))


def _steps(given: Json, file: Path, place: str) -> list[Step]:
    """Return the steps of the form that lists calls, results and texts separately."""
    steps = []
    for name, part, role in (("tool_uses", "function_call", "model"), ("tool_responses", "function_response", "user")):
        where = f"{place}, `{name}`"
        if made := [_valid(types.Part, {part: one}, file, where) for one in _list(_get(given, name), file, where)]:
            steps.append(Step("agent", types.Content(role=role, parts=made)))
    for said in _list(_get(given, "intermediate_responses"), file, f"{place}, `intermediate_responses`"):
        if not (isinstance(said, list) and len(said) == 2 and isinstance(said[1], list)):
            raise EvalSetError(f"{file}, {place}: an intermediate response is a pair of an author and parts.")
        steps.append(Step(str(said[0]), _valid(types.Content, {"role": "model", "parts": said[1]}, file, place)))
    return steps


def _old_case(data: Json, file: Path, place: str) -> EvalCase:
    session = _object(data.get("initial_session") or {}, file, f"{place}, `initial_session`")
    turns = data.get("data")
    if not isinstance(turns, list):
        raise EvalSetError(f"{file}, {place}: `data` must be a list.")
    return EvalCase(
        str(data.get("name") or place),
        tuple(_old_turn(_object(one, file, f"{place}, turn {n}"), file, f"{place}, turn {n}") for n, one in enumerate(turns, 1)),
        _word(session.get("app_name")),
        _word(session.get("user_id")),
        None,
        _object(session.get("state") or {}, file, f"{place}, `state`"),
    )


def _old_turn(data: Json, file: Path, place: str) -> Turn:
    if not isinstance(data.get("query"), str):
        raise EvalSetError(f"{file}, {place}: it needs a `query`.")
    try:
        expected = _list(data.get("expected_tool_use"), file, place)
        calls = [types.FunctionCall(name=one["tool_name"], args=one["tool_input"]) for one in expected]
        said = [
            Step(str(one["author"]), types.Content(role="model", parts=[types.Part(text=one["text"])]))
            for one in _list(data.get("expected_intermediate_agent_responses"), file, place)
        ]
    except (KeyError, TypeError, pydantic.ValidationError):
        raise EvalSetError(f"{file}, {place}: an expected tool use needs its `tool_name` and `tool_input`.") from None
    steps = [Step("agent", types.Content(role="model", parts=[types.Part(function_call=call) for call in calls]))] if calls else []
    response = types.Content(role="model", parts=[types.Part(text=str(data.get("reference") or ""))])
    return Turn("", types.Content(role="user", parts=[types.Part(text=data["query"])]), response, (*steps, *said), 0.0)


def _get(data: Json, name: str) -> Any:
    """Return a member by its Python name or google-adk's camel case name."""
    if name in data:
        return data[name]
    return next((value for key, value in data.items() if alias_generators.to_snake(key) == name), None)


def _list(value: Any, file: Path, place: str) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise EvalSetError(f"{file}, {place}: this must be a list.")
    return value or []


def _object(value: Any, file: Path, place: str) -> Json:
    if not isinstance(value, dict):
        raise EvalSetError(f"{file}, {place}: this must be a JSON object.")
    return value


def _valid(model: type[Model], value: Any, file: Path, place: str) -> Model:
    read: Callable[[Any], Model] = model.model_validate
    try:
        return read(value)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise EvalSetError(f"{file}, {place}: {'.'.join(map(str, first['loc']))}: {first['msg']}.") from None


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _seconds(value: Any) -> float:
    """Return a time; 0 for what is none, such as 1e999."""
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e15 else 0.0

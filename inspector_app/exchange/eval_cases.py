"""Sessions as cases of an eval set, as `adk web` makes them, and cases as sessions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector_app.exchange.eval_sets import EvalCase, EvalSetError, Turn, read_eval_set
from inspector_app.exchange.exported_session import ExportedSession
from inspector_app.presentation.strict_json import strict_json
from runtime.sessions.lineage import SessionCopy
from runtime.storage.connections.new_file import unfinished_file
from runtime.support.bounded import read_json_file
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from runtime.events import event as event_model
else:
    event_model = lazy_module("runtime.events.event")

Json = dict[str, Any]
NO_APP, NO_USER = "eval", "test_user_id"  # of a case that does not name them; the user is google-adk's
_STEPS = ("function_call", "function_response", "text", "inline_data")


def eval_set(sessions: Iterable[ExportedSession], name: str) -> Iterator[str]:
    """Yield sessions as google-adk's eval set: each session is a case.

    Args:
        sessions: the sessions.
        name: the set's id.
    """
    yield f'{{"eval_set_id": {strict_json(name)}, "name": {strict_json(name)}, "eval_cases": ['
    ids: set[str] = set()
    for number, session in enumerate(sessions):
        case_id = session.key.session_id if session.key.session_id not in ids else f"{session.key.user_id} {session.key.session_id}"
        ids.add(case_id)
        yield (",\n" if number else "\n") + strict_json(eval_case(session, case_id))
    yield "\n]}\n"


def eval_case(session: ExportedSession, case_id: str) -> Json:
    """Return a session as a case: its messages, and the calls and responses that were given as those that are expected."""
    key, initial = session.key, session.initial_state
    given: Json = {"app_name": key.app_name, "user_id": key.user_id, **({"state": initial} if initial else {})}
    return {
        "eval_id": case_id,
        "conversation": [turn for turn in conversation(session.events) if turn["user_content"]["parts"]],
        "session_input": given,
        "creation_timestamp": session.created,
    }


def add_case(file: Path, session: ExportedSession) -> str:
    """Add a session as a case to an eval set, which is created if it does not exist; return the case's id.

    Args:
        file: the eval set.
        session: the session.

    Raises:
        EvalSetError: the file is no eval set of google-adk's present form, or cannot be written.
    """
    name = file.name.removesuffix(".json").removesuffix(".evalset").removesuffix(".test")
    data: Json = {"eval_set_id": name, "name": name, "eval_cases": []}
    ids: set[str] = set()
    if file.exists():
        ids = {case.id for case in read_eval_set(file).cases}
        data = read_json_file(file, EvalSetError)
        if not isinstance(data, dict):
            raise EvalSetError(f"{file} is an eval set of an older form. Name a new file.")
    first = session.key.session_id
    case_id = next(one for number in count(1) if (one := first if number == 1 else f"{first} {number}") not in ids)
    data["evalCases" if "evalCases" in data else "eval_cases"].append(eval_case(session, case_id))
    try:
        with unfinished_file(file, 0o600) as unfinished:
            unfinished.write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", "utf-8")
            unfinished.replace(file)
    except OSError as error:
        raise EvalSetError(f"{file} cannot be written: {error.strerror or error}.") from error
    return case_id


def conversation(events: Iterable[Json]) -> list[Json]:
    """Return events as the invocations of an eval case, by google-adk's rules.

    One thing differs: an answer that resumes an invocation begins a further one of the same id. google-adk replaces the message by the
    answer, and such a case cannot be run.

    Args:
        events: google-adk's event JSON, in order.
    """
    grouped: dict[tuple[str, int], list[Json]] = {}
    parts: Counter[str] = Counter()
    for event in events:
        name = str(event.get("invocation_id") or "")
        if (name, parts[name]) in grouped and _is_by_user(event) and _has(event, "function_response"):
            parts[name] += 1
        grouped.setdefault((name, parts[name]), []).append(event)
    return [_invocation(name, own) for (name, _), own in grouped.items()]


def _is_by_user(event: Json) -> bool:
    return str(event.get("author") or "agent").lower() == "user"


def _invocation(name: str, events: Sequence[Json]) -> Json:
    message: Json = {"parts": []}
    created: float = 0
    final: Json | None = None
    kept: list[Json] = []
    for event in events:
        content = event.get("content") or {}
        if _is_by_user(event):
            if event.get("content") is not None:
                message, created = content, event.get("timestamp", 0)
            continue
        if not content.get("parts"):
            kept += [event] if event.get("grounding_metadata") else []
            continue
        if is_final(event) and (final is None or _has_text(content) or not _has_text(final["content"])):
            final = event
        if event.get("grounding_metadata") or any(part.get(kind) for part in content["parts"] for kind in _STEPS):
            kept.append(event)
    steps = []
    for event in kept:
        step: Json = {"author": event.get("author") or "agent"}
        if event is not final or _has(event, "function_call"):
            step["content"] = event.get("content")
        named = ("grounding_metadata", "usage_metadata", "model_version")
        steps.append({**step, **{one: event[one] for one in named if event.get(one) is not None}})
    return {
        "invocation_id": name,
        "user_content": message,
        **({} if final is None else {"final_response": final["content"]}),
        "intermediate_data": {"invocation_events": steps},
        "creation_timestamp": created,
    }


def is_final(event: Mapping[str, Any]) -> bool:
    """Return whether event JSON is a final response by google-adk's own rule, which its eval uses."""
    if (event.get("actions") or {}).get("skip_summarization") or event.get("long_running_tool_ids"):
        return True
    if event.get("partial") or _has(event, "function_call"):
        return False
    if event.get("error_code"):
        return True
    parts = (event.get("content") or {}).get("parts") or ()
    return not _has(event, "function_response") and not (parts and parts[-1].get("code_execution_result"))


def _has(event: Mapping[str, Any], kind: str) -> bool:
    return any(part.get(kind) for part in (event.get("content") or {}).get("parts") or ())


def _has_text(content: Json) -> bool:
    return any(part.get("text") for part in content.get("parts") or ())


def session_of(case: EvalCase) -> Json:
    """Return a case as a session in the form that `export` writes: what its conversation would be if the agent did what is expected.

    An eval case has no event ids, so they are made of the invocation's; the times are the invocations'.
    """
    events: list[Json] = []
    made: Counter[str] = Counter()  # invocation → its events so far; a resumed one has several turns
    for number, turn in enumerate(case.turns, 1):
        invocation = turn.invocation_id or f"turn-{number}"
        own = _expected_events(turn, invocation, made[invocation], case.created)
        made[invocation] += len(own)
        events += own
    initial = {"state": case.state, "initial_state": case.state} if case.state else {}
    names = {"id": case.session_id or case.id, "app_name": case.app, "user_id": case.user}
    return {**names, "create_time": case.created, **initial, "events": events}


def _expected_events(turn: Turn, invocation: str, first: int, created: float) -> list[Json]:
    """Return the events of a turn if the agent did what is expected.

    Args:
        turn: the turn.
        invocation: the invocation's id.
        first: the number of the first event, which is unique in the invocation.
        created: epoch seconds, if the turn does not have its own.
    """
    author = next((step.author for step in turn.steps), "agent")
    said: list[tuple[str, Any]] = [("user", turn.message)]
    ended = False
    for step in turn.steps:
        ended = ended or step.content is None
        content = turn.response if step.content is None else step.content
        said += [(step.author, content)] if content else []
    if turn.response is not None and not ended and not any(content == turn.response for _, content in said[1:]):
        said.append((author, turn.response))
    return [
        {
            "id": f"{invocation}.{place}",
            "invocation_id": invocation,
            "author": name,
            "timestamp": turn.created or created,
            "content": _plain(content),
        }
        for place, (name, content) in enumerate(said, first)
    ]


def invocation_json(turn: Turn) -> Json:
    """Return a turn as an invocation of an eval case, which google-adk reads."""
    steps = [{"author": step.author, **({} if step.content is None else {"content": _plain(step.content)})} for step in turn.steps]
    return {
        "invocation_id": turn.invocation_id,
        "user_content": _plain(turn.message),
        **({} if turn.response is None else {"final_response": _plain(turn.response)}),
        "intermediate_data": {"invocation_events": steps},
    }


def _plain(content: Any) -> Any:
    return json.loads(content.model_dump_json(exclude_none=True))


def case_events(case: EvalCase) -> list[event_model.Event]:
    """Return the events of a case if the agent did what is expected, for a comparison."""
    return [event_model.Event.model_validate(event) for event in session_of(case)["events"]]


def expected_copy(case: EvalCase) -> SessionCopy:
    """Return a case as a session to store: what its conversation would be if the agent did what is expected."""
    return SessionCopy(
        events=case_events(case),
        state={},
        baseline=dict(case.state),
        user={},
        app={},
        shared=[],
        temp={},
        created=case.created,
        lineage=None,
    )

"""Questions about one session: its events, its state, who wrote a key, what a model was asked."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import closing
from typing import Any

from inspector_app.documents.event_notes import EventNotes
from inspector_app.mcp_server.answers import LINE, at_path, cut, event_row, page, piece, short
from inspector_app.mcp_server.places import Places, opened, readable, whole_event_id
from inspector_app.mcp_server.tool import Parameter, Tool, WrongArgumentError
from inspector_app.presentation.strict_json import event_json
from runtime.compare.comparison import prompt_of
from runtime.errors import NotFoundError
from runtime.events.event import Event
from runtime.expressions import Expression, ExpressionError, parse
from runtime.history.state_at import History
from runtime.sessions.note import Note
from runtime.sessions.recorded_facts import RecordedFacts, RecordedInnerEvent
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import scope_of
from runtime.storage.connections.database_url import named_file
from runtime.storage.recordings.recorded_call import RecordedModelRequest
from runtime.storage.recordings.recording import Recording, facts_beside, recording_beside
from runtime.support.worker_threads import run_in_thread

DATABASE = Parameter("A database: its path or file name. Leave it out if the server knows one only, or if the session's id is enough.")
SESSION = Parameter("The session's id, or its beginning. Leave it out if there is one session only.")
EVENT = "An event: its id, the beginning of it, or #3 for the third one."
OFFSET = Parameter("Characters of the value to skip, for the next piece of a long one.", "integer")
PAGE = Parameter("The page of a long list, from 1.", "integer")
Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def on_thread(answer: Answer) -> Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]:
    """Return a function that answers on a worker thread, as databases may be large and disks slow."""

    async def answered(given: Mapping[str, Any]) -> Mapping[str, Any]:
        return await run_in_thread(answer, given)

    return answered


def reading_tools(places: Places) -> list[Tool]:
    """Return the tools that read one session."""
    questions = _Questions(places)
    where = {"session": SESSION, "database": DATABASE}
    return [
        Tool(
            "what_happened",
            "A session's events, the oldest first, a line each, with those of agents that ran as tools (`nested`); or one whole event, if"
            " `event` is given. Use `where` to find events.",
            {
                **where,
                "where": Parameter(
                    "Only events that match this condition, such as: kind == 'tool call' · author == 'pricing' · call.pay.args.amount > 10"
                    " · response.pay · state['total'] changed · error · text ~ 'refund' · bookmarked or note (what people noted)"
                ),
                "event": Parameter(f"{EVENT} Its whole JSON, in pieces."),
                "path": Parameter("With `event`: only this part of it, such as content.parts.0.text or actions.state_delta.total."),
                "offset": OFFSET,
                "page": PAGE,
            },
            on_thread(questions.what_happened),
        ),
        Tool(
            "what_was_the_state",
            "The state after any event, or now. Give `key` for one whole value.",
            {
                **where,
                "event": Parameter(f"{EVENT} Default: the last one."),
                "key": Parameter("One key with its prefix, such as total, user:plan or app:rates."),
                "path": Parameter("With `key`: a part of the value, such as items.0.price."),
                "offset": OFFSET,
                "page": PAGE,
            },
            on_thread(questions.what_was_the_state),
        ),
        Tool(
            "who_wrote",
            "Every write of a state key: the event, the agent and tool, the value before and after. The way to why a value is wrong.",
            {**where, "key": Parameter("The key with its prefix, such as total or user:plan.", is_needed=True), "page": PAGE},
            on_thread(questions.who_wrote),
        ),
        Tool(
            "what_was_the_model_asked",
            "The request behind an event of a model: instruction, conversation, tools and settings, and the answer.",
            {
                **where,
                "event": Parameter(EVENT, is_needed=True),
                "path": Parameter("Only this part, such as config.system_instruction, contents.2 or config.tools."),
                "offset": OFFSET,
            },
            on_thread(questions.what_was_the_model_asked),
        ),
    ]


class _Questions:
    """Answers the questions about one session."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def what_happened(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        target, key = self._places.session(given["database"], given["session"])
        condition = _condition(given["where"])
        if given["event"] is not None and condition is not None:
            raise WrongArgumentError("Give either `event` or `where`.")
        with opened(target) as database:
            notes = EventNotes(target).of(database, key)
            if given["event"] is not None:
                events = list(database.plain_events(key))
                stored = len(events)
                events += _inner_events(target, key)
                index = whole_event_id([event.id for event in events], given["event"])
                whole = json.loads(event_json(events[index], note=notes.get(events[index].id)))
                found = piece(at_path(whole, given["path"]), given["offset"] or 0)
                place: dict[str, Any] = {"n": index + 1} if index < stored else {"nested": True}
                return {"session": key.session_id, **place, **found, "next": _next_of(events[index])}
            rows, recorded = [], recorded_facts(target, key)
            for index, event in _matching(database, key, condition, notes):
                rows.append(event_row(index + 1, event, notes.get(event.id)))
                if condition is None:
                    for call in event.get_function_calls():
                        rows += _nested(recorded.inside(event.invocation_id, call.id), None)
            if condition is not None:
                rows += _nested(recorded.inner, condition)
        shown, rest = page(rows, given["page"])
        return {
            "session": key.session_id,
            "database": target,
            "events": shown,
            **rest,
            "next": "what_happened(event=ID) for one whole event; what_was_the_state(event=ID); who_wrote(key=…).",
        }

    def what_was_the_state(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        target, key = self._places.session(given["database"], given["session"])
        with opened(target) as database:
            history = database.history(key, plain=True)
        index = len(history) - 1
        if given["event"] is not None:
            index = whole_event_id([event.id for event in history.events], given["event"])
        state = history.state_at(index)
        values = {**state.merged(), **state.temp}
        about: dict[str, Any] = {"session": key.session_id, "after_event": index + 1 if history.events else 0}
        if given["key"] is not None:
            return {**about, **_one_key(history, index, values, state.unknown, given)}
        changed = [change.key for change in history.delta_at(index)] if index >= 0 else []
        shown, rest = page([(name, short(value)) for name, value in values.items()], given["page"])
        return {
            **about,
            "state": dict(shown),
            **rest,
            "changed_by_this_event": changed,
            "not_recorded": state.unknown[:20],
            "next": "what_was_the_state(key=…) for a whole value; who_wrote(key=…) for its history.",
        }

    def who_wrote(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        target, key = self._places.session(given["database"], given["session"])
        with opened(target) as database:
            writes = database.writes(key, given["key"])
            numbers = {event.id: number for number, event in enumerate(database.plain_events(key), 1)}
            known = database.state(key)
        if not writes:
            near = [name for name in known if given["key"].rpartition(":")[2] in name][:5]
            hint = f" There is: {', '.join(near)}." if near else " what_was_the_state lists the keys."
            set_at_creation = " No event wrote it: it was set when the session was created." if given["key"] in known else ""
            raise NotFoundError(f"There is no recorded write of {given['key']!r}.{set_at_creation or hint}")
        rows = []
        for write in writes:
            number = numbers.get(write.event_id or "")
            who = write.author or "at the session's creation"
            rows.append(
                {
                    "n": number,
                    "event": (write.event_id or "")[:16],
                    "who": who + (f", tool {write.tool_text}" if write.tool_text else ""),
                    **({"branch": write.branch} if write.branch else {}),
                    **({"session": write.session.session_id} if write.session != key else {}),
                    "before": None if write.is_new else short(write.before) if write.known else "not recorded",
                    "after": short(write.after),
                    **({"parallel": "another agent wrote it at the same time; the last one won"} if write.parallel else {}),
                }
            )
        shown, rest = page(rows, given["page"])
        last = next((number for write in reversed(writes) if (number := numbers.get(write.event_id or ""))), None)
        hint = f"what_happened(event='#{last}') shows the last write's event; #{last - 1} is what came before it." if last else ""
        return {"key": given["key"], "writes": shown, **rest, "next": hint}

    def what_was_the_model_asked(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        target, key = self._places.session(given["database"], given["session"])
        with opened(target) as database:
            events = [*database.events(key), *_inner_events(target, key)]
        index = whole_event_id([event.id for event in events], given["event"])
        recorded = _recorded(readable(target), events[index].id)
        if recorded is not None:
            request: dict[str, Any] = {
                "model": recorded.model,
                "config": dict(recorded.config),
                "contents": list(recorded.contents),
                "answer": recorded.answer,
            }
            source = "recorded: exactly what was sent"
        else:
            contents = [content.model_dump(mode="json", exclude_none=True) for content in prompt_of(events, index)]
            answer = events[index].content
            request = {"contents": contents, "answer": answer.model_dump(mode="json", exclude_none=True) if answer else None}
            source = "rebuilt from the events: the instruction and the tools were not recorded"
        about = {"session": key.session_id, "n": index + 1, "source": source}
        if given["path"]:
            return {**about, **piece(at_path(request, given["path"]), given["offset"] or 0)}
        config = request.get("config") or {}
        contents = request["contents"]
        return {
            **about,
            "model": request.get("model"),
            "instruction": cut(str(config.get("system_instruction") or ""), 3 * LINE),
            "tools": _tool_names(config.get("tools")),
            "settings": {name: short(value) for name, value in config.items() if name not in ("system_instruction", "tools")},
            "contents": [f"{place}: {short(content)}" for place, content in enumerate(contents)][-10:],
            "answer": short(request["answer"]),
            "next": "path='config.system_instruction', 'contents.N', 'config.tools' or 'answer' for the whole of a part.",
        }


def recorded_facts(target: str, key: SessionKey) -> RecordedFacts:
    """Return what the recording beside a database knows of a session's events."""
    file = named_file(target)
    return facts_beside(recording_beside(file) if file is not None else None, key)


def _inner_events(target: str, key: SessionKey) -> list[Event]:
    return [inner.event for inner in recorded_facts(target, key).inner if inner.event is not None]


def _nested(recorded: Iterable[RecordedInnerEvent], condition: Expression | None) -> list[dict[str, Any]]:
    """Return the rows of events of agents that ran as tools."""
    return [
        {"nested": len(inner.call_ids), **event_row(None, inner.event)}
        for inner in recorded
        if inner.event is not None and (condition is None or condition.matches(inner.event))
    ]


def _recorded(target: str, event_id: str) -> RecordedModelRequest | None:
    file = named_file(target)
    if file is None or not recording_beside(file).is_file():
        return None
    with closing(Recording(recording_beside(file))) as recording:
        call = recording.call_of_event(event_id)
        return recording.request(call.number) if call is not None else None


def _condition(text: str | None) -> Expression | None:
    try:
        return parse(text) if text else None
    except ExpressionError as error:
        raise WrongArgumentError(f"`where` is not a condition: {error}") from None


def _matching(database: Any, key: Any, condition: Expression | None, notes: Mapping[str, Note]) -> Iterable[tuple[int, Event]]:
    if condition is None or not condition.uses_state:
        events = enumerate(database.plain_events(key))
        return [(index, event) for index, event in events if condition is None or condition.matches(event, None, notes.get(event.id))]
    past = database.history(key, plain=True)
    found = []
    for index, event in enumerate(past.events):
        before = past.state_at(index - 1)
        if condition.matches(event, {**before.merged(), **before.temp}, notes.get(event.id)):
            found.append((index, event))
    return found


def _one_key(history: History, index: int, values: Mapping[str, Any], unknown: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    name = given["key"]
    if name not in values:
        if name in unknown:
            raise NotFoundError(f"The value of {name!r} at this event is not recorded.")
        near = [known for known in values if scope_of(known) == scope_of(name)][:8]
        raise NotFoundError(f"There is no key {name!r} here. There is: {', '.join(near) or 'none'}.")
    writer = history.writers_at(index).get(name)
    written = f"event #{writer + 1} ({history.events[writer].author})" if writer is not None and writer >= 0 else "outside these events"
    found = piece(at_path(values[name], given["path"]), given["offset"] or 0)
    return {"key": name, **found, "written_by": written, "next": f"who_wrote(key={name!r}) for every write."}


def _next_of(event: Event) -> str:
    if event.get_function_responses():
        return "This is a tool's result. what_happened(where=\"kind == 'tool call'\") shows the calls with their arguments."
    if event.usage_metadata is not None:
        return "what_was_the_model_asked(event=…) shows the request behind this answer."
    return "what_was_the_state(event=…) shows the state after it."


def _tool_names(tools: Any) -> list[str]:
    found = []
    for tool in tools if isinstance(tools, list) else ():
        declared = tool.get("function_declarations") if isinstance(tool, dict) else None
        found += [str(one.get("name")) for one in declared or () if isinstance(one, dict)] or [short(tool)] * (not declared)
    return found

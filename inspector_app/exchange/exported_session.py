"""A stored session as plain JSON data for an export, without credentials and `temp:` values."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from inspector_app.presentation.strict_json import event_json, with_note
from inspector_app.presentation.values import preview
from runtime.events.marks import drop_kept_temp, kept_rows
from runtime.history.session_title import message_of, session_title
from runtime.sessions.note import NAME, Note
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import scope_of
from runtime.storage.reading.reader import StoredDatabase

if TYPE_CHECKING:
    from runtime.events import Event
    from runtime.history.state_at import History

Json = dict[str, Any]
MOST_PLACES = 1_000


@dataclass(slots=True)
class ExportedSession:
    """A session on its way into a file.

    Attributes:
        key: the session.
        title: see `session_title`.
        created, updated: epoch seconds.
        state: its present state, with the prefixes of `user:` and `app:`.
        initial_state: the session's own first state; None if it is not recorded.
        started: what the events started from, of a capsule: see `started_from`.
        events: yields the events as google-adk's event JSON, in commit order. Read it once.
        redactions: number of events, and of states, in which something was replaced; complete when the events are read.
        places: where, as the event's id or `state` and a JSON pointer; the first `MOST_PLACES`.
        notes: the notes on its events, by event id. They are written into the events' `custom_metadata`.
        samples: place → what is there then, as a preview.
        kept: places in which nothing is replaced.
    """

    key: SessionKey
    title: str
    created: float
    updated: float
    state: Json
    initial_state: Json | None
    started: Json = field(default_factory=dict)
    events: Iterator[Json] = field(default_factory=lambda: iter(()))
    redactions: int = 0
    places: list[str] = field(default_factory=list)
    notes: Mapping[str, Note] = field(default_factory=dict)
    samples: dict[str, str] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()


def exported_session(
    database: StoredDatabase,
    key: SessionKey,
    updated: float,
    *,
    secrets: bool = False,
    selection: Iterable[Event] | None = None,
    notes: Mapping[str, Note] | None = None,
    kept: frozenset[str] = frozenset(),
) -> ExportedSession:
    """Return a session for an export.

    Credentials that a person gave are always left out.

    Args:
        database: the open database.
        key: the session.
        updated: its last update, epoch seconds.
        secrets: keep what looks like a password, a key or a token.
        selection: only these events of the session; None: all.
        notes: the notes on its events; None: those in the database itself.
        kept: see `ExportedSession`.

    Raises:
        SessionNotFoundError: the session does not exist.
    """
    if notes is None:
        notes = database.notes(key).get(key, {})
    clean = _unchanged if secrets else _redaction()
    title = clean(database.titles([key], {key: _name(notes)})[key])
    session = ExportedSession(key, title, database.created(key), updated, {}, None, notes=notes, kept=kept)
    session.state = _counted(session, _without_temp(database.state(key)), clean, "state")
    first = database.first_state(key) if selection is None else None  # selected events do not lead from it to the state
    session.initial_state = None if first is None else _first_state(session, first, clean)
    session.events = (_event(session, event, clean) for event in (database.plain_events(key) if selection is None else selection))
    return session


def session_of_history(
    history: History,
    key: SessionKey,
    created: float,
    *,
    secrets: bool = False,
    notes: Mapping[str, Note] | None = None,
    first: int = 0,
    last: int | None = None,
    kept: frozenset[str] = frozenset(),
) -> ExportedSession:
    """Return a session, or a part of it, for an export; see `exported_session`.

    Args:
        history: its past; nothing else may use it meanwhile.
        key: the session.
        created: epoch seconds.
        secrets: keep what looks like a password, a key or a token.
        notes: the notes on its events.
        first, last: the places of the first and the last event, from 0; None: the last one.
        kept: see `ExportedSession`.
    """
    end = len(history.events) if last is None else last + 1
    events = history.events[first:end]
    updated = events[-1].timestamp if len(events) else created
    clean = _unchanged if secrets else _redaction()
    now = history.state_at(end - 1)
    title = session_title(key, created, name=_name(notes or {}), state=now.session, message=message_of(history.events))
    session = ExportedSession(key, clean(title), created, updated, {}, None, notes=notes or {}, kept=kept)
    session.state = _counted(session, _without_temp({**now.session, **now.user, **now.app}), clean, "state")
    before = history.baseline if first == 0 else history.state_at(first - 1).session
    session.initial_state = None if before is None else _first_state(session, dict(before), clean)
    session.events = (_event(session, event, clean) for event in events)
    return session


def started_from(session: ExportedSession, history: History, first: int, last: int) -> Json:
    """Return what some events of a session started from, of all scopes, with what is replaced in a state replaced.

    Args:
        session: the session on its way into a file.
        history: its past.
        first, last: the places of the first and the last event, from 0.

    Returns:
        `state` before the first event; `unknown`: keys whose value then is not recorded; `others`: what other sessions wrote to shared
        keys before later events, each with the `place` of the event, counted from the first one, and the `delta`.
    """
    clean, before = _redaction(), history.state_before(first)
    later = (write for write in history.writes_before(last) if write.before > first)
    others = [{"place": write.before - first, "delta": _first_state(session, dict(write.delta), clean)} for write in later]
    return {"state": _first_state(session, before.merged(), clean), "unknown": sorted(before.unknown), "others": others}


def _name(notes: Mapping[str, Note]) -> str:
    return notes[NAME].text if NAME in notes else ""


def header(session: ExportedSession) -> Json:
    """Return what a file says of a session beside its events. `initial_state` is there only if it is known.

    `display_name` is there only if the user named the session.
    """
    key = session.key
    known: Json = {} if session.initial_state is None else {"initial_state": session.initial_state}
    if _name(session.notes):
        known = {**known, "display_name": session.title}
    return {
        "id": key.session_id,
        "app_name": key.app_name,
        "user_id": key.user_id,
        "create_time": session.created,
        "last_update_time": session.updated,
        "state": session.state,
        **known,
    }


def _event(session: ExportedSession, event: Event, clean: Callable[[Any], Any]) -> Json:
    data: Json = with_note(json.loads(event_json(event)), session.notes.get(event.id))
    actions = data.get("actions")
    if isinstance(actions, dict) and isinstance(actions.get("state_delta"), dict):
        actions["state_delta"] = _without_temp(actions["state_delta"])
    drop_kept_temp(data.get("custom_metadata"))
    # Not a secret, and the model refuses to continue without it.
    signatures = [part.pop("thought_signature", None) for part in _parts(data)]
    data = _counted(session, data, clean, f"event {event.id}")
    for part, signature in zip(_parts(data), signatures, strict=True):
        if signature is not None:
            part["thought_signature"] = signature
    return data


def _parts(event: Json) -> Iterator[Json]:
    """Yield the parts of an event, and of the events that it keeps of an inner run."""
    for each in (event, *kept_rows(event.get("custom_metadata"))):
        content = each.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        yield from (part for part in parts if isinstance(part, dict)) if isinstance(parts, list) else ()


def _counted(session: ExportedSession, value: Json, clean: Callable[[Any], Any], what: str) -> Json:
    cleaned: Json = clean(value)
    if cleaned != value:
        session.redactions += 1
        found = ((f"{what} {place}", after) for place, after in _replacements(value, cleaned))
        for place, after in islice(found, max(0, MOST_PLACES - len(session.places))):
            session.places.append(place)
            session.samples[place] = preview(after)
        if session.kept:
            cleaned = _with_kept(value, cleaned, session.kept, f"{what} ")
    return cleaned


def _first_state(session: ExportedSession, first: Json, clean: Callable[[Any], Any]) -> Json:
    """Return a first state with what is replaced in the present one replaced, too."""
    given = _without_temp(first)
    cleaned: Json = _with_kept(given, clean(given), session.kept, "state ")
    return cleaned


def _with_kept(before: Any, after: Any, kept: frozenset[str], what: str, place: str = "") -> Any:
    """Return a cleaned value with what was there before in some places; see `replaced_places`."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        return {name: _with_kept(value, after[name], kept, what, f"{place}/{name}") for name, value in before.items()}
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [_with_kept(value, after[index], kept, what, f"{place}/{index}") for index, value in enumerate(before)]
    return before if before != after and what + (place or "/") in kept else after


def replaced_places(before: Any, after: Any) -> Iterator[str]:
    """Yield where two JSON values differ, such as where a redaction replaced something, as JSON pointers."""
    return (place for place, _ in _replacements(before, after))


def _replacements(before: Any, after: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        for name, value in before.items():
            yield from _replacements(value, after[name], f"{place}/{name}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, value in enumerate(before):
            yield from _replacements(value, after[index], f"{place}/{index}")
    elif before != after:
        yield place or "/", after


def _without_temp(state: Json) -> Json:
    """Return state without `temp:` keys: google-adk up to 1.16 stored them."""
    return {key: value for key, value in state.items() if scope_of(key) != "temp"}


def _unchanged(value: Any) -> Any:
    return value


def _redaction() -> Callable[[Any], Any]:
    # One file that users copy beside their apps, so it is a resource and not a module of this package.
    redacted: Callable[[Any], Any] = importlib.import_module("inspector_app.resources.plugins.recorder_plugin").redacted
    return redacted

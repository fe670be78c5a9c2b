"""A stored session as plain JSON data for an export, without credentials and `temp:` values."""

from __future__ import annotations

import base64
import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from inspector_app.presentation.strict_json import event_json, with_note
from runtime.sessions.note import Note
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import scope_of
from runtime.storage.reading.reader import StoredDatabase

if TYPE_CHECKING:
    from runtime.events import Event
    from runtime.history.state_at import History

Json = dict[str, Any]
MOST_PLACES = 1_000
_TEXTS = {"application/json", "application/xml", "application/yaml", "application/x-yaml", "application/javascript", "application/toml"}


@dataclass(slots=True)
class ExportedSession:
    """A session on its way into a file.

    Attributes:
        key: the session.
        created, updated: epoch seconds.
        state: its present state, with the prefixes of `user:` and `app:`.
        initial_state: the session's own first state; None if it is not recorded.
        events: yields the events as google-adk's event JSON, in commit order. Read it once.
        redactions: number of events, and of states, in which something was replaced; complete when the events are read.
        places: where, as the event's id or `state` and a JSON pointer; the first `MOST_PLACES`.
        notes: the notes on its events, by event id. They are written into the events' `custom_metadata`.
    """

    key: SessionKey
    created: float
    updated: float
    state: Json
    initial_state: Json | None
    events: Iterator[Json] = field(default_factory=lambda: iter(()))
    redactions: int = 0
    places: list[str] = field(default_factory=list)
    notes: Mapping[str, Note] = field(default_factory=dict)


def exported_session(
    database: StoredDatabase,
    key: SessionKey,
    updated: float,
    *,
    secrets: bool = False,
    selection: Iterable[Event] | None = None,
    notes: Mapping[str, Note] | None = None,
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

    Raises:
        SessionNotFoundError: the session does not exist.
    """
    session = ExportedSession(key, database.created(key), updated, {}, None)
    session.notes = database.notes(key).get(key, {}) if notes is None else notes
    clean = _unchanged if secrets else _redaction()
    session.state = _counted(session, _without_temp(database.state(key)), clean, "state")
    first = database.first_state(key) if selection is None else None  # selected events do not lead from it to the state
    session.initial_state = None if first is None else clean(_without_temp(first))
    session.events = (_event(session, event, clean) for event in (database.plain_events(key) if selection is None else selection))
    return session


def session_of_history(
    history: History, key: SessionKey, created: float, *, secrets: bool = False, notes: Mapping[str, Note] | None = None
) -> ExportedSession:
    """Return a session that is not in a database for an export; see `exported_session`.

    Args:
        history: its past; nothing else may use it meanwhile.
        key: the session.
        created: epoch seconds.
        secrets: keep what looks like a password, a key or a token.
        notes: the notes on its events.
    """
    events = history.events
    session = ExportedSession(key, created, events[-1].timestamp if len(events) else created, {}, None, notes=notes or {})
    clean = _unchanged if secrets else _redaction()
    now = history.state_at(len(events) - 1)
    session.state = _counted(session, _without_temp({**now.session, **now.user, **now.app}), clean, "state")
    session.initial_state = None if history.baseline is None else clean(_without_temp(dict(history.baseline)))
    session.events = (_event(session, event, clean) for event in events)
    return session


def header(session: ExportedSession) -> Json:
    """Return what a file says of a session beside its events. `initial_state` is there only if it is known."""
    key = session.key
    known = {} if session.initial_state is None else {"initial_state": session.initial_state}
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
    content = data.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    # Not a secret, and the model refuses to continue without it.
    signatures = [part.pop("thought_signature", None) if isinstance(part, dict) else None for part in parts or ()]
    data = _counted(session, data, clean, f"event {event.id}")
    for part, signature in zip(data["content"]["parts"] if parts else (), signatures, strict=True):
        if signature is not None:
            part["thought_signature"] = signature
        if clean is not _unchanged and isinstance(part, dict):
            session.redactions += clean_file(part.get("inline_data"), clean)
    return data


def clean_file(blob: Any, clean: Callable[[Any], Any]) -> bool:
    """Redact a file that is text, in place, and return whether something was replaced.

    Args:
        blob: `inline_data` of a part; anything else is left as it is.
        clean: the redaction.
    """
    kind, data = (blob.get("mime_type"), blob.get("data")) if isinstance(blob, dict) else (None, None)
    if not (isinstance(kind, str) and isinstance(data, str) and (kind.startswith("text/") or kind.partition(";")[0] in _TEXTS)):
        return False
    try:
        text = base64.urlsafe_b64decode(data.replace("+", "-").replace("/", "_")).decode()
    except ValueError:
        return False
    cleaned: str = clean(text)
    if cleaned != text:
        blob["data"] = base64.urlsafe_b64encode(cleaned.encode()).decode()
    return cleaned != text


def _counted(session: ExportedSession, value: Json, clean: Callable[[Any], Any], what: str) -> Json:
    cleaned: Json = clean(value)
    if cleaned != value:
        session.redactions += 1
        places = (f"{what} {place}" for place in replaced_places(value, cleaned))
        session.places += islice(places, max(0, MOST_PLACES - len(session.places)))
    return cleaned


def replaced_places(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Yield where two JSON values differ, such as where a redaction replaced something, as JSON pointers."""
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        for name, value in before.items():
            yield from replaced_places(value, after[name], f"{place}/{name}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, value in enumerate(before):
            yield from replaced_places(value, after[index], f"{place}/{index}")
    elif before != after:
        yield place or "/"


def _without_temp(state: Json) -> Json:
    """Return state without `temp:` keys: google-adk up to 1.16 stored them."""
    return {key: value for key, value in state.items() if scope_of(key) != "temp"}


def _unchanged(value: Any) -> Any:
    return value


def _redaction() -> Callable[[Any], Any]:
    # One file that users copy beside their apps, so it is a resource and not a module of this package.
    redacted: Callable[[Any], Any] = importlib.import_module("inspector_app.resources.plugins.recorder_plugin").redacted
    return redacted

"""Sessions as data: google-adk's session JSON, and JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from inspector_app.exchange.exported_session import ExportedSession, header
from inspector_app.exchange.google_json import google_event
from inspector_app.presentation.strict_json import strict_json
from runtime.events.event import Event


def session_json(sessions: Iterable[ExportedSession], *, single: bool) -> Iterator[str]:
    """Yield sessions as google-adk's session JSON, the form that `adk web` saves and loads.

    Args:
        sessions: the sessions.
        single: there is one session, which is written by itself; several are a JSON list.
    """
    yield "" if single else "[\n"
    for number, session in enumerate(sessions):
        names = {"id": session.key.session_id, "appName": session.key.app_name, "userId": session.key.user_id}
        head = strict_json({**names, "state": session.state, "lastUpdateTime": session.updated})
        yield (",\n" if number else "") + head[:-1] + ', "events": ['
        for place, event in enumerate(session.events):
            yield (",\n" if place else "\n") + strict_json(google_event(Event.model_validate(event)))
        yield "\n]}"
    yield "\n" if single else "\n]\n"


def json_lines(sessions: Iterable[ExportedSession]) -> Iterator[str]:
    """Yield sessions as JSON lines: one with the session, then one for each event, as `agent-inspector events --json` prints it."""
    for session in sessions:
        yield strict_json({"session": header(session)}) + "\n"
        for event in session.events:
            yield json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n"

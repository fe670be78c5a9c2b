"""Session documents for tests of the stream."""

from __future__ import annotations

from collections.abc import Sequence

from inspector_app.documents.invocation_groups import InvocationGroups
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import Committed, SessionDocument
from inspector_app.documents.session_events import SessionEvents
from inspector_app.stream.event_table_model import EventTableModel
from runtime.events import Event
from runtime.sessions.session import SessionKey

ADDRESS = SessionAddress("memory:", SessionKey("app", "user", "s"))


def document_of(events: SessionEvents, groups: InvocationGroups | None = None) -> SessionDocument:
    """Return a document with these events."""
    return SessionDocument(ADDRESS, events, groups=groups)


def show(model: EventTableModel, events: Sequence[Event]) -> SessionDocument:
    """Display a session with these events."""
    document = document_of(SessionEvents(events))
    model.set_document(document)
    return document


def append(model: EventTableModel, events: Sequence[Event]) -> None:
    """Commit events to the displayed session; partial ones are only streamed."""
    if model.document is None:
        show(model, [])
    for event in events:
        if event.partial:
            model.show_partial(event)
    committed = [Committed(event, {}) for event in events if not event.partial]
    if committed:
        assert model.document is not None
        model.document.append(committed)

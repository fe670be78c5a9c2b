"""The clauses, one file per verb; importing this declares them all in `clause.CLAUSES`."""

from tests.conformance.clauses import (
    append_event,
    create_session,
    delete_session,
    get_session,
    get_user_state,
    list_sessions,
    session_for_run,
    set_note,
)

__all__ = [
    "append_event",
    "create_session",
    "delete_session",
    "get_session",
    "get_user_state",
    "list_sessions",
    "session_for_run",
    "set_note",
]

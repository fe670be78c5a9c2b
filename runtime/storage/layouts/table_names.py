"""Names and versions of the tables that we add. Separate from `tables`, so that reading does not load SQLAlchemy."""

from __future__ import annotations

from typing import Literal

WrittenLayout = Literal["v1", "sqlite"]

# One row for each commit, in commit order:
#
# - An event: `event_id` is set, `shared` holds the `user:` and `app:` part of its delta, `temp` the names and types of
#   its `temp:` keys (`sessions.temp_trace`).
# - A session's creation: `event_id` is null, `baseline` holds the session's own first state, `shared` the user and app state that it set.
#   For a fork or an imported session, `temp` holds its origin (`lineage.dump_origin`), and `baseline` is null if the original's first
#   state was not recorded.
# - The state of a user or an app when we first saw it: `session_id` is empty, `shared` holds all of it. For an app, `user_id` is empty.
#
# `writer` names the process; it is null for events that another program committed. `at` is in epoch microseconds; for a creation it is
# the session's `create_time`.
COMMITS = "inspector_commits"

# How runs that we drove ended, where their events do not tell: one row for an invocation. `at` is in epoch microseconds.
INVOCATIONS = "inspector_invocations"

# Comments and bookmarks: one row for an event that has any. `at` is in epoch microseconds.
NOTES = "inspector_notes"

METADATA = "inspector_metadata"
VERSION = "1"  # version of our own tables
SCHEMA_VERSION = "1"  # version of google-adk's v1 layout

# What an event's JSON contains if its delta writes a `user:` or `app:` key; `{}` is the text.
MAY_BE_SHARED = "{0} LIKE '%\"user:%' OR {0} LIKE '%\"app:%'"

# The condition on a session's rows, for the three parts of its key in order, and for them by name.
OF_SESSION = "app_name = ? AND user_id = ? AND session_id = ?"
OF_NAMED_SESSION = "app_name = :app_name AND user_id = :user_id AND session_id = :session_id"

"""Names of the tables that we add, and versions. Apart from the tables themselves, as reading needs no SQLAlchemy."""

from __future__ import annotations

from typing import Literal

WrittenLayout = Literal["v1", "sqlite"]

COMMITS = "inspector_commits"
"""One row a commit, in commit order:

- an event: `event_id`, the `user:` and `app:` part of its delta in `shared`, a readable trace of its `temp:` keys in `temp`;
- a session's creation: `event_id` is null, `baseline` is the session's own first state, `shared` what it set for user and app. Of a fork,
  `temp` says what it was made of (`lineage.dump_origin`), and `baseline` is null where nobody recorded its parent's first state;
- what a user or app had when we first saw it: `session_id` is empty, `shared` is all of it (`user_id` empty: the app's).

`writer` names the process, null for events that we found when we came by; `at` is epoch microseconds, for a creation the session's
`create_time`.
"""

METADATA = "inspector_metadata"
VERSION = "1"
"""Of our own tables."""

SCHEMA_VERSION = "1"
"""Of google-adk's v1 layout."""

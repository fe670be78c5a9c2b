"""Every way in which reading a fixture differs from what google-adk itself answered, with its reason.

The databases are named by the scenario in their name. Nothing else may differ.
"""

from __future__ import annotations

from typing import Any

ORDER: dict[str, str] = {
    "equal_ts": "several events have one timestamp; google-adk 1.x reverses them or sorts them by id, we keep commit order",
    "confirm": "the confirmation request is committed before its function response but has the later time, by which google-adk sorts",
    "auth_pending": "the credential request is committed before its function response but has the later time, by which google-adk sorts",
    "compaction": "1.16 to 1.18 commit the summary from a task of its own",
    "tz_fallback": "google-adk up to 2.6 sorts by local times, of which the folded hour has two",
    "tz_kolkata-continued": "2.7 and later write UTC after local times of an older version and sort the new events before the old ones",
}

TIMESTAMP: dict[str, str] = {
    "tz_fallback": "google-adk up to 2.6 makes the epoch from the local time column, which is an hour off for the folded hour",
}

ADDED_BY_READER: dict[str, Any] = {
    # 2.x adds this to every event of an older version that it reads; it is not in the file.
    "node_info": {"path": ""},
}


def allowed(differences: dict[str, str], database: str) -> bool:
    """Return whether a database may differ in this way."""
    return any(scenario in database for scenario in differences)

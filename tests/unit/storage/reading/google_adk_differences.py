"""All differences between our reading of a fixture and google-adk's answer, with reasons.

Keys are regular expressions on the databases' names. No other database may differ, and every database listed here must.
"""

from __future__ import annotations

import re
from typing import Any

ORDER: dict[str, str] = {
    "-equal_ts": "several events have one timestamp; google-adk 1.x reverses them or sorts them by id, we keep commit order",
    # 1.16 stores no function response for the tool that asks for confirmation.
    r"adk(?!1\.16).*-confirm": "the request is committed before its function response but has the later time, by which google-adk sorts",
    "-auth_pending": "the credential request is committed before its function response but has the later time, by which google-adk sorts",
    r"adk1\.0\.0-v0-parallel": "a model's answer has the time at which its request started, by which 1.0.0 sorts",
    r"adk1\..*-tz_fallback": "google-adk up to 2.6 sorts by local times, which repeat in the folded hour",
    "tz_kolkata-continued": "2.7 and later write UTC after local times of an older version and sort the new events before the old ones",
}

TIMESTAMP: dict[str, str] = {
    r"adk1\..*-tz_fallback": "google-adk up to 2.6 makes the epoch from the local time column, which is an hour off for the folded hour",
}

ADDED_BY_READER: dict[str, Any] = {
    # 2.x adds this to every event of an older version; it is not in the file.
    "node_info": {"path": ""},
}

ADDED_TO_ACTIONS: dict[str, Any] = {
    # Unknown to 1.0.0. Later versions write it even if it is empty, and so do we.
    "requested_tool_confirmations": {},
}

LAST_UPDATE: dict[str, str] = {
    r"adk1\.0\.0-v0-tz_kolkata": "1.0.0 reads the column, which is UTC, as its local time",
}

TEMP_OBJECTS: dict[str, str] = {
    r"adk1\.16\.0-v0-temp_pickle": "google-adk printed a tool's `temp:` object with a memory address; we show the pickle's content",
}

NONE_IS_INSIDE = ("compaction", "requested_tool_confirmations")
NONE_INSIDE: dict[str, str] = {
    r"adk1\.18\.0-v0-compaction": "1.18 stores compactions and confirmations as dicts that include None values, which have no meaning",
    r"adk1\.18\.0-v0-confirm": "likewise",
}


def allowed(differences: dict[str, str], database: str) -> bool:
    """Return whether a database may differ in this way."""
    return any(re.search(databases, database) for databases in differences)

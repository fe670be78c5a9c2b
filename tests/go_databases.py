"""Databases as adk-go would write them, made with plain sqlite3 from its source: *not verified against the real writer*."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

KEY = ("shop", "ann", "s1")
_TYPES = {"actions": "blob", "timestamp": "datetime", "partial": "numeric", "turn_complete": "numeric", "interrupted": "numeric"}
_COLUMNS = (
    "id app_name user_id session_id invocation_id author actions long_running_tool_ids_json{since_2} branch{scope} timestamp content"
    " grounding_metadata custom_metadata usage_metadata citation_metadata partial turn_complete error_code error_message interrupted"
)
_SINCE_2 = " routes_json output_json node_info_json requested_input_json"


def go_database(file: Path, *, camel: bool) -> Path:
    """Write a database with a session of an approval in two time zones.

    Args:
        file: the new file.
        camel: write camelCase actions and the columns of adk-go 2.2; else PascalCase, as before.
    """
    columns = _COLUMNS.format(since_2=_SINCE_2 if camel else "", scope=" isolation_scope" if camel else "").split()
    database = sqlite3.connect(file)
    database.execute(
        "CREATE TABLE `sessions` (`app_name` text,`user_id` text,`id` text,`state` text,`create_time` datetime,`update_time` datetime,"
        "PRIMARY KEY (`app_name`,`user_id`,`id`))"
    )
    declared = ",".join(f"`{name}` {_TYPES.get(name, 'text')}" for name in columns)
    database.execute(
        f"CREATE TABLE `events` ({declared},PRIMARY KEY (`id`,`app_name`,`user_id`,`session_id`),CONSTRAINT `fk_sessions_events`"
        " FOREIGN KEY (`app_name`,`user_id`,`session_id`) REFERENCES `sessions`(`app_name`,`user_id`,`id`) ON DELETE CASCADE)"
    )
    database.execute("CREATE TABLE `app_states` (`app_name` text,`state` text,`update_time` datetime,PRIMARY KEY (`app_name`))")
    database.execute(
        "CREATE TABLE `user_states` (`app_name` text,`user_id` text,`state` text,`update_time` datetime,PRIMARY KEY (`app_name`,`user_id`))"
    )
    # Summer time ends between the two: as text, the second time comes before the first.
    created, updated = "2026-10-25 02:59:59.123456789+02:00", "2026-10-25 02:00:01+01:00"
    state = '{"cart":["\\u003cb\\u003e"],"total":42}'
    database.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)", (*KEY, state, created, updated))
    database.execute("INSERT INTO app_states VALUES ('shop', '{\"open\":true}', ?)", (created,))
    database.execute("INSERT INTO user_states VALUES ('shop', 'ann', '{\"tier\":\"gold\"}', ?)", (updated,))
    for event in _events(camel):
        row = {"app_name": KEY[0], "user_id": KEY[1], "session_id": KEY[2], "invocation_id": "e-1", **event}
        names = [name for name in columns if name in row]
        sql = f"INSERT INTO events ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        database.execute(sql, [row[name] for name in names])
    database.commit()
    database.close()
    return file


def _events(camel: bool) -> list[dict[str, Any]]:
    flags = {"partial": 0, "turn_complete": 0, "interrupted": 0}
    ask = {"functionCall": {"id": "c1", "name": "charge", "args": {"orderId": 7, "max_amount": 42}}}
    started = {"functionResponse": {"id": "c1", "name": "charge", "response": {"statusCode": "pending"}}}
    usage = {"promptTokenCount": 11, "candidatesTokenCount": 5, "totalTokenCount": 16}
    return [
        {
            "id": "g1",
            "author": "user",
            "timestamp": "2026-10-25 02:59:59.5+02:00",
            "actions": _actions(camel, {}),
            "content": json.dumps({"parts": [{"text": "buy <b>"}], "role": "user"}).replace("<", "\\u003c").replace(">", "\\u003e"),
            **flags,
        },
        {
            "id": "g2",
            "author": "clerk",
            "branch": "clerk",
            "timestamp": "2026-10-25 02:00:00.000001+01:00",
            "actions": _actions(camel, {"cart": ["<b>"], "user:tier": "gold"}),
            "content": json.dumps({"parts": [ask], "role": "model"}),
            "long_running_tool_ids_json": '["c1"]',
            "usage_metadata": json.dumps(usage),
            "custom_metadata": '{"traceId":"t"}',
            "isolation_scope": "clerk@1",
            "output_json": '{"innerKey":1}',
            "node_info_json": '{"path":"clerk@1"}',
            "routes_json": '["next"]',
            **flags,
        },
        {
            "id": "g3",
            "author": "clerk",
            "branch": "clerk",
            "timestamp": "2026-10-25 02:00:01+01:00",
            "actions": _actions(camel, {"total": 42, "app:open": True}, {"bill.pdf": 3}),
            "content": json.dumps({"parts": [started], "role": "user"}),
            **flags,
        },
    ]


def _actions(camel: bool, delta: dict[str, Any], files: dict[str, int] | None = None) -> bytes:
    if camel:
        return json.dumps({"stateDelta": delta, "artifactDelta": files or {}}).encode()
    confirmations = {"c1": {"Hint": "Charge?", "Confirmed": False, "Payload": None}} if files else None
    pascal = {"StateDelta": delta, "ArtifactDelta": files, "RequestedToolConfirmations": confirmations}
    return json.dumps({**pascal, "SkipSummarization": False, "TransferToAgent": "", "Escalate": False}).encode()

"""Events in the form of the Agent Engine's sessions: fields of its own, and the whole event beside them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from runtime.errors.storage_error import StorageError
from runtime.events.event import Event

# Keys in the custom metadata of events that google-adk wrote without the whole event.
_COMPACTION, _USAGE = "_compaction", "_usage_metadata"


def to_api(event: Event) -> dict[str, Any]:
    """Return the body that appends an event."""
    raw = json.loads(event.model_dump_json(by_alias=True, exclude_none=True))
    _without_part_metadata(raw)
    actions = event.actions
    metadata = {
        "partial": event.partial,
        "turnComplete": event.turn_complete,
        "interrupted": event.interrupted,
        "branch": event.branch,
        "customMetadata": event.custom_metadata,
        "longRunningToolIds": sorted(event.long_running_tool_ids or ()) or None,
        "groundingMetadata": raw.get("groundingMetadata"),
    }
    body = {
        "author": event.author,
        "invocationId": event.invocation_id,
        "timestamp": datetime.fromtimestamp(event.timestamp, UTC).isoformat().replace("+00:00", "Z"),
        "content": raw.get("content"),
        "actions": {
            "skipSummarization": actions.skip_summarization,
            "stateDelta": actions.state_delta,
            "artifactDelta": actions.artifact_delta,
            "transferAgent": actions.transfer_to_agent,
            "escalate": actions.escalate,
            "requestedAuthConfigs": raw["actions"].get("requestedAuthConfigs"),
        },
        "errorCode": event.error_code,
        "errorMessage": event.error_message,
        "eventMetadata": {name: value for name, value in metadata.items() if value is not None},
        "rawEvent": raw,
    }
    body["actions"] = {name: value for name, value in body["actions"].items() if value is not None}
    return {name: value for name, value in body.items() if value is not None}


def from_api(found: dict[str, Any]) -> Event:
    """Return an event that a server sent.

    Raises:
        StorageError: it is not an event.
    """
    raw = found.get("rawEvent") or _from_fields(found)
    data = {**raw, "author": found.get("author", raw.get("author")), "invocationId": found.get("invocationId", raw.get("invocationId", ""))}
    data["id"] = raw.get("id") or str(found.get("name", "")).rpartition("/")[2]
    sent = time_of(found.get("timestamp"))
    # The server keeps microseconds; the event's own time is as exact as it was.
    if sent is not None and abs(float(raw.get("timestamp") or 0.0) - sent) > 1e-3:
        data["timestamp"] = sent
    try:
        return Event.model_validate(data)
    except ValidationError as error:
        raise StorageError(
            f"The Agent Engine sent an event that cannot be read: {error.errors()[0]['msg']} ({found.get('name')})."
        ) from error


def _from_fields(found: dict[str, Any]) -> dict[str, Any]:
    """Return an event that was stored by its fields alone, as older versions of google-adk did."""
    actions = {name: value for name, value in (found.get("actions") or {}).items() if name != "transferAgent"}
    if transfer := (found.get("actions") or {}).get("transferAgent"):
        actions["transferToAgent"] = transfer
    metadata = dict(found.get("eventMetadata") or {})
    custom = dict(metadata.pop("customMetadata", None) or {})
    if _COMPACTION in custom:
        actions["compaction"] = custom.pop(_COMPACTION)
    usage = custom.pop(_USAGE, None)
    event = {**metadata, "customMetadata": custom or None, "usageMetadata": usage, "actions": actions}
    event.update({name: found[name] for name in ("content", "errorCode", "errorMessage") if name in found})
    return {name: value for name, value in event.items() if value is not None}


def time_of(text: Any) -> float | None:
    """Return epoch seconds of a time such as 2026-01-31T12:00:00.123456789Z."""
    if not isinstance(text, str):
        return None
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except ValueError as error:
        raise StorageError(f"The Agent Engine sent a time that cannot be read: {text[:60]!r}.") from error


def _without_part_metadata(raw: dict[str, Any]) -> None:
    """Remove what the server refuses: it knows no metadata of parts."""
    for part in (raw.get("content") or {}).get("parts") or ():
        part.pop("partMetadata", None)

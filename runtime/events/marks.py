"""The names that give an event a meaning: keys in its `custom_metadata`, and function calls that are not the model's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtime.events.event import Event


EDITED = "inspector_edited"  # manual changes: see `runtime.debugger.interception` and `runtime.running.system_events`
CANCELLED = "inspector_cancelled"  # ids of function calls whose response only says that the run was stopped
PROGRESS = "inspector_progress"  # ids of long-running calls whose response only reports progress: they stay open
REPLAYED = "inspector_replayed"  # in a re-run, the id of the recorded event that was repeated without calling a model or tool
RESUMED = "inspector_resumed"  # on the first event that a resumed run commits: `temp:` values of the interrupted run end there
CALLBACK = "inspector_callback"  # the agent callback whose output the event carries (resumable apps): a resume does not call it again
ANSWER = "inspector_answer"  # the response that holds an agent's answer in its output schema: {call, wrapped}
NOT_CAPTURED = "inspector_not_captured"  # in the metadata of an event made of a trace that does not have its content
CALLED_WITHOUT_RESULT = "inspector_called_without_result"  # ids of long-running calls whose tool returned nothing: not to be run again
AGENT_PLACE = (
    "inspector_agent_place"  # the author's place in its tree, if other agents of the tree have the same name: `history.agent_places`
)
UNREADABLE = "inspector_unreadable"  # columns of an old row that could not be read, with the reason and the content (bytes as Base64)
INNER_RUN = "inspector_inner_run"  # of an agent that runs as a tool and waits for an answer: {call, agent, request, events, is_progress}
SAME_MODEL_CALL = "inspector_same_model_call"  # on a model's complete responses after the first one of the same call
UNREADABLE_EVENT = "UNREADABLE_EVENT"  # error code of an event whose stored text is not an event
STORED_TEXT = "stored_text"  # in the JSON of such an event: that text
MOVED_FIELDS = "inspector_unknown_fields"  # fields of an event converted for google-adk up to 1.27, which rejects them
MOVED_ACTIONS = "inspector_unknown_actions"  # actions of a converted event that google-adk rejects in `actions`
TEMP_GONE = "inspector_temp_gone"  # among an event's recorded `temp:` keys if the event carries `RESUMED`

# On a checkpoint that a resumed custom agent yielded again before any new work. The agent passed over finished steps to get there,
# so the checkpoint must not move it back when the run is resumed another time.
REPLAYED_CHECKPOINT = "inspector_replayed_checkpoint"

INTERNAL_METADATA_PREFIX = "__adk_internal_"  # google-adk's: of keys that no caller of a run can set

TRANSFER_CALL = "transfer_to_agent"
SET_ANSWER_CALL = "set_model_response"  # called by a model with tools to answer in the agent's output schema
CONFIRMATION_CALL = "adk_request_confirmation"
CREDENTIAL_CALL = "adk_request_credential"
INPUT_CALL = "adk_request_input"  # a question to the user, asked by a model (`tools.request_input`) or by a node of google-adk 2
TOOLSET_CREDENTIAL = "_adk_toolset_auth_"  # then the toolset's class: in a credential request, in place of the id of a tool's call
REQUEST_CALLS = frozenset({CONFIRMATION_CALL, CREDENTIAL_CALL})  # requests about another call, which are never sent to models
ASKING_CALLS = REQUEST_CALLS | {INPUT_CALL}  # calls that a person answers

NOTE = "inspector_note"  # only in an exported event: the note on it, see `runtime.sessions.note`

SYSTEM = "system"  # author of manual changes to a session


def without_internal_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata without the keys that only a runtime may write."""
    return {key: value for key, value in metadata.items() if not key.startswith(INTERNAL_METADATA_PREFIX)}


def recorded_place(event: Event) -> str | None:
    """Return the recorded place of an event's author; None if its name is unique in its tree, or google-adk stored the event."""
    place = event.custom_metadata.get(AGENT_PLACE) if event.custom_metadata else None
    return place if isinstance(place, str) else None


def agent_key(event: Event) -> str:
    """Return the key of an event's author as far as the event tells: its recorded place, or else its name."""
    return recorded_place(event) or event.author


def inner_run(event: Event) -> Mapping[str, Any] | None:
    """Return what an event keeps of an agent's run inside a function call that waits for an answer; None if it keeps nothing."""
    kept = event.custom_metadata.get(INNER_RUN) if event.custom_metadata else None
    return kept if isinstance(kept, Mapping) and isinstance(kept.get("call"), str) else None


def kept_rows(metadata: Any) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of the events that an event keeps of an inner run, and of those that these keep.

    Args:
        metadata: the event's `custom_metadata`, from any file or server.
    """
    kept = metadata.get(INNER_RUN) if isinstance(metadata, dict) else None
    rows = kept.get("events") if isinstance(kept, dict) else None
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            yield row
            yield from kept_rows(row.get("custom_metadata", row.get("customMetadata")))


def drop_kept_temp(metadata: Any) -> None:
    """Remove the `temp:` keys from the state deltas of the events that an event keeps; see `kept_rows`."""
    for row in kept_rows(metadata):
        actions = row.get("actions")
        for name in ("state_delta", "stateDelta"):
            delta = actions.get(name) if isinstance(actions, dict) else None
            if isinstance(delta, dict):
                for key in [key for key in delta if key.startswith("temp:")]:
                    del delta[key]


def with_kept_events(metadata: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Return an event's `custom_metadata` with the events changed that it keeps of an inner run; the same object if nothing changes.

    Args:
        metadata: the metadata; it is not changed.
        change: returns an event's JSON object, the same one for no change. It changes the events that this one keeps, too.
    """
    kept = metadata.get(INNER_RUN) if isinstance(metadata, dict) else None
    rows = kept.get("events") if isinstance(kept, dict) else None
    if not (isinstance(kept, dict) and isinstance(rows, list)):
        return metadata
    changed = [change(row) if isinstance(row, dict) else row for row in rows]
    if all(new is old for new, old in zip(changed, rows, strict=True)):
        return metadata
    return {**metadata, INNER_RUN: {**kept, "events": changed}}


def asks_for_inner_run(event: Event) -> bool:
    """Return whether an event's calls are those of an agent that runs as a tool: its caller asks the user in its place."""
    return inner_run(event) is not None and bool(event.get_function_calls())


def is_inner_progress(event: Event) -> bool:
    """Return whether an event only keeps results of an agent that runs as a tool; no agent yielded it."""
    kept = inner_run(event)
    return kept is not None and bool(kept.get("is_progress"))


def is_state_edit(event: Event) -> bool:
    """Return whether an event is a manual edit of the state, or the undo of one."""
    edited = (event.custom_metadata or {}).get(EDITED)
    return event.author == SYSTEM and isinstance(edited, dict) and isinstance(edited.get("state"), dict)


def is_progress(event: Event) -> bool:
    """Return whether an event only reports the progress of a long-running call."""
    return PROGRESS in (event.custom_metadata or {})


def begins_resumed_run(event: Event) -> bool:
    """Return whether the event is the first one that a resumed run committed."""
    return bool((event.custom_metadata or {}).get(RESUMED))


def is_replayed_checkpoint(event: Event) -> bool:
    """Return whether the event is a checkpoint that a resumed agent passed over again."""
    return bool(event.custom_metadata and event.custom_metadata.get(REPLAYED_CHECKPOINT))


def has_unreadable_actions(event: Event) -> bool:
    """Return whether a stored event's actions could not be read, so that its changes are unknown."""
    if event.error_code == UNREADABLE_EVENT:
        return True
    marks = event.custom_metadata.get(UNREADABLE) if event.custom_metadata else None
    if isinstance(marks, dict) and "actions" in marks:
        return True
    refused = getattr(event, "unknown", None) or ()  # a plain event has None
    return bool(refused) and any(path[0] == "actions" and path[1:2] in ((), ("state_delta",), ("stateDelta",)) for path, _ in refused)

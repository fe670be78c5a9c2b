from __future__ import annotations

from typing import Any

import pytest

from runtime.events import Event
from runtime.events.kinds import KINDS, kind_of

TEXT = {"content": {"parts": [{"text": "x"}]}}
CALL = {"content": {"parts": [{"text": "I will"}, {"function_call": {"id": "c", "name": "pay"}}]}}


def calling(name: str) -> dict[str, Any]:
    return {"content": {"parts": [{"function_call": {"id": "c", "name": name}}]}}


def result(name: str = "pay", **actions: Any) -> dict[str, Any]:
    return {"content": {"parts": [{"function_response": {"id": "c", "name": name, "response": {}}}]}, "actions": actions}


CASES: list[tuple[str, dict[str, Any]]] = [
    ("user input", {"author": "user", **TEXT}),
    ("answer", TEXT),
    ("answer", {"content": {"parts": [{"inline_data": {"data": "aGk=", "mime_type": "image/png"}}]}}),
    ("answer", {"output_transcription": {"text": "spoken"}}),
    ("streaming", {"partial": True, **TEXT}),
    ("streaming", {"partial": True}),
    ("thought", {"content": {"parts": [{"text": "hm", "thought": True}]}}),
    ("tool call", CALL),
    ("tool result", result()),
    ("state change", {"actions": {"state_delta": {"x": 1}}}),
    ("state change", {"actions": {"artifact_delta": {"f": 1}}}),
    ("state change", {"content": {"parts": [{"text": "  "}]}, "actions": {"state_delta": {"x": 1}}}),
    ("transfer", calling("transfer_to_agent")),
    ("transfer", result("transfer_to_agent", transfer_to_agent="bob")),
    ("transfer", result(transfer_to_agent="bob")),
    ("transfer", {"actions": {"transfer_to_agent": "bob"}}),
    ("escalate", {"actions": {"escalate": True}}),
    ("escalate", {**TEXT, "actions": {"escalate": True}}),
    ("escalate", result(escalate=True)),
    ("checkpoint", {"actions": {"agent_state": {}}}),
    ("end of agent", {"actions": {"end_of_agent": True}}),
    ("error", {"error_code": "SAFETY", **TEXT}),
    ("waiting", calling("adk_request_confirmation")),
    ("waiting", result(requested_tool_confirmations={"c": {"hint": "?"}})),
    ("rewind", {"actions": {"rewind_before_invocation_id": "i"}}),
    ("compaction", {"actions": {"compaction": {"start_timestamp": 1, "end_timestamp": 2, "compacted_content": {"parts": []}}}}),
    ("code", {"content": {"parts": [{"executable_code": {"code": "1", "language": "PYTHON"}}]}}),
    ("output", {"output": "done", "node_info": {"path": "desk@1/answer@1"}}),
    ("empty", {}),
]


@pytest.mark.parametrize(("kind", "fields"), CASES)
def test_kinds(kind: str, fields: dict[str, Any]) -> None:
    assert kind_of(Event.model_validate({"author": "a", **fields})) == kind


def test_every_kind_has_an_example() -> None:
    assert {kind for kind, _ in CASES} == set(KINDS)

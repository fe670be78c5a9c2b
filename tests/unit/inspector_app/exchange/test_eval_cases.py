"""Sessions as eval cases, and eval sets of each form as sessions."""

from __future__ import annotations

import json
from pathlib import Path

from google.genai import types

from inspector_app.cli import main
from inspector_app.exchange.eval_cases import case_events, conversation
from inspector_app.exchange.eval_sets import read_eval_set
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import StoredDatabase

CALL = {"function_call": {"id": "c1", "name": "price", "args": {"item": "paper"}}}
RESULT = {"function_response": {"id": "c1", "name": "price", "response": {"price": 3}}}
EVENTS = [
    {"id": "1", "invocation_id": "i", "author": "user", "timestamp": 5.0, "content": {"role": "user", "parts": [{"text": "How much?"}]}},
    {"id": "2", "invocation_id": "i", "author": "clerk", "timestamp": 6.0, "content": {"role": "model", "parts": [CALL]}},
    {"id": "3", "invocation_id": "i", "author": "clerk", "timestamp": 7.0, "content": {"role": "user", "parts": [RESULT]}},
    {"id": "4", "invocation_id": "i", "author": "clerk", "timestamp": 8.0, "actions": {"state_delta": {"n": 1}}},
    {"id": "5", "invocation_id": "i", "author": "clerk", "timestamp": 9.0, "content": {"role": "model", "parts": [{"text": "Three."}]}},
]


def test_an_invocation_has_its_message_steps_and_final_response() -> None:
    (turn,) = conversation(EVENTS)
    assert turn["user_content"]["parts"] == [{"text": "How much?"}]
    assert turn["final_response"]["parts"] == [{"text": "Three."}]
    steps = turn["intermediate_data"]["invocation_events"]
    assert [step.get("content", {}).get("parts") for step in steps] == [[CALL], [RESULT], None]
    assert turn["creation_timestamp"] == 5.0


def test_an_answer_that_resumes_an_invocation_is_a_turn_of_its_own(tmp_path: Path) -> None:
    asked = [
        {"id": "1", "invocation_id": "i", "author": "user", "content": {"role": "user", "parts": [{"text": "Order paper."}]}},
        {
            "id": "2",
            "invocation_id": "i",
            "author": "clerk",
            "content": {"role": "model", "parts": [CALL]},
            "long_running_tool_ids": ["c1"],
        },
    ]
    other = {"id": "3", "invocation_id": "j", "author": "user", "content": {"role": "user", "parts": [{"text": "Hello?"}]}}
    answer = {"id": "4", "invocation_id": "i", "author": "user", "content": {"role": "user", "parts": [RESULT]}}
    turns = conversation([*asked, other, answer, EVENTS[-1]])
    assert [turn["user_content"]["parts"] for turn in turns] == [[{"text": "Order paper."}], [{"text": "Hello?"}], [RESULT]]
    assert [turn["invocation_id"] for turn in turns] == ["i", "j", "i"]
    assert turns[-1]["final_response"]["parts"] == [{"text": "Three."}]
    file = tmp_path / "a.evalset.json"
    file.write_text(json.dumps({"eval_set_id": "e", "eval_cases": [{"eval_id": "c", "conversation": turns}]}))
    (case,) = read_eval_set(file).cases
    events = case_events(case)
    assert [event.author for event in events] == ["user", "clerk", "user", "user", "clerk"]
    assert len({event.id for event in events}) == 5


def test_an_eval_set_is_read_and_imported(tmp_path: Path) -> None:
    case = {
        "eval_id": "price",
        "conversation": conversation(EVENTS),
        "session_input": {"app_name": "shop", "user_id": "maria", "state": {"plan": "gold", "user:vip": True}},
    }
    file = tmp_path / "a.evalset.json"
    file.write_text(json.dumps({"eval_set_id": "prices", "eval_cases": [case]}))
    (read,) = read_eval_set(file).cases
    assert [call.name for call in read.turns[0].calls] == ["price"]
    assert main(["import", str(file), str(tmp_path / "a.db")]) == 0
    with StoredDatabase.open(str(tmp_path / "a.db")) as database:
        key = SessionKey("shop", "maria", "price")
        events = database.events(key)
        assert [(event.author, event.timestamp) for event in events] == [("user", 5.0), *[("clerk", 5.0)] * 3]
        assert events[-1].content == types.Content(role="model", parts=[types.Part(text="Three.")])
        assert database.state(key) == {"plan": "gold", "user:vip": True}
        assert database.history(key).state_at(-1).session == {"plan": "gold"}


def test_both_older_forms_are_read(tmp_path: Path) -> None:
    turn = {
        "query": "How much?",
        "expected_tool_use": [{"tool_name": "price", "tool_input": {"item": "paper"}}],
        "expected_intermediate_agent_responses": [{"author": "helper", "text": "looking"}],
        "reference": "Three.",
    }
    (tmp_path / "a.test.json").write_text(json.dumps([turn, turn]))
    session = {"state": {"plan": "gold"}, "app_name": "shop", "user_id": "maria"}
    (tmp_path / "b.evalset.json").write_text(json.dumps([{"name": "prices", "data": [turn], "initial_session": session}]))
    (oldest,) = read_eval_set(tmp_path / "a.test.json").cases
    (old,) = read_eval_set(tmp_path / "b.evalset.json").cases
    assert (oldest.id, len(oldest.turns)) == ("a.test.json", 2)
    assert (old.id, old.app, old.user, old.state) == ("prices", "shop", "maria", {"plan": "gold"})
    for read in (*oldest.turns, *old.turns):
        assert read.calls == [types.FunctionCall(name="price", args={"item": "paper"})]
        assert read.response is not None and read.response.parts is not None and read.response.parts[0].text == "Three."
        assert [step.author for step in read.steps] == ["agent", "helper"]


def test_the_form_that_lists_calls_and_responses_is_read(tmp_path: Path) -> None:
    given = {
        "toolUses": [CALL["function_call"]],
        "toolResponses": [RESULT["function_response"]],
        "intermediateResponses": [["a", [{"text": "t"}]]],
    }
    turn = {"userContent": {"parts": [{"text": "hi"}]}, "finalResponse": {"parts": [{"text": "bye"}]}, "intermediateData": given}
    (tmp_path / "a.json").write_text(json.dumps({"evalSetId": "e", "evalCases": [{"evalId": "c", "conversation": [turn]}]}))
    (case,) = read_eval_set(tmp_path / "a.json").cases
    assert [call.id for call in case.turns[0].calls] == ["c1"]
    assert [step.author for step in case.turns[0].steps] == ["agent", "agent", "a"]

from __future__ import annotations

import sqlite3

import pytest
from google.genai import types

from inspector_app.presentation.event_summary import ICONS, SUMMARY_LIMIT, describe, failure_of, short_id, tokens_of
from runtime.events import Event, EventActions, EventCompaction
from runtime.events.marks import CALLED_WITHOUT_RESULT
from runtime.events.tool_confirmation import ToolConfirmation
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import fixtures_dir, varied


def event(*parts: types.Part, author: str = "pricing", **fields: object) -> Event:
    content = types.Content(role="model", parts=list(parts)) if parts else None
    return Event(author=author, invocation_id="e-1", content=content, **fields)  # type: ignore[arg-type]


def text(words: str, **fields: object) -> types.Part:
    return types.Part(text=words, **fields)  # type: ignore[arg-type]


def call(tool: str, call_id: str = "c1", /, **args: object) -> types.Part:
    return types.Part(function_call=types.FunctionCall(id=call_id, name=tool, args=args))


def result(name: str, response: dict[str, object], call_id: str = "c1") -> types.Part:
    return types.Part(function_response=types.FunctionResponse(id=call_id, name=name, response=response))


CASES = [
    (event(text("I need 40 boxes"), author="user"), "user input", "I need 40 boxes"),
    (event(text("With twelve orders you get 8 %.")), "answer", "With twelve orders you get 8 %."),
    (event(text("With tw"), partial=True), "streaming", "With tw"),
    (event(text("hmm", thought=True)), "thought", "hmm"),
    (event(text("hmm", thought=True), text("Yes.")), "answer", "Yes."),
    (event(call("find_product", name="A4 paper", qty=40)), "tool call", 'call find_product(name="A4 paper", qty=40)'),
    (event(call("history"), call("stock", "c2", sku="PA4")), "tool call", 'call history()   ‖   call stock(sku="PA4")'),
    (event(call("approve"), long_running_tool_ids={"c1"}), "tool call", "call approve() · answers later"),
    (event(result("find_product", {"sku": "PA4-80"})), "tool result", 'find_product → {sku: "PA4-80"}'),
    (event(result("history", {"result": 12}), result("stock", {"result": 310})), "tool result", "history → 12   ·   stock → 310"),
    (event(result("check_credit", {"error": "timeout after 2 s"})), "tool result", "check_credit failed: timeout after 2 s"),
    (event(call("transfer_to_agent", agent_name="pricing")), "transfer", "transfer → pricing"),
    (
        event(result("transfer_to_agent", {"result": None}), actions=EventActions(transfer_to_agent="pricing")),
        "transfer",
        "transferred to pricing",
    ),
    (
        event(result("transfer_to_agent", {"result": "It is in charge."}), actions=EventActions(transfer_to_agent="pricing")),
        "transfer",
        'transferred to pricing   ·   "It is in charge."',
    ),
    (event(result("transfer_to_agent", {})), "transfer", "transfer_to_agent → {}"),
    (event(result("find", {"result": 1}), actions=EventActions(transfer_to_agent="p")), "transfer", "find → 1   ·   transferred to p"),
    (event(actions=EventActions(transfer_to_agent="pricing")), "transfer", "transfer → pricing"),
    (
        event(result("transfer_to_agent", {"error": "There is no agent 'other'."})),
        "transfer",
        "transfer_to_agent failed: There is no agent 'other'.",
    ),
    (event(actions=EventActions(escalate=True)), "escalate", "escalate: the loop ends"),
    (event(actions=EventActions(agent_state={"step": "PRICED"})), "checkpoint", 'checkpoint {step: "PRICED"}'),
    (event(actions=EventActions(end_of_agent=True)), "end of agent", "end of pricing"),
    (event(actions=EventActions(state_delta={"total": 1.5})), "state change", "state: total = 1.5"),
    (event(actions=EventActions(artifact_delta={"a.txt": 2})), "state change", "saved: a.txt v2"),
    (event(error_code="SAFETY", error_message="blocked"), "error", "SAFETY: blocked"),
    (event(actions=EventActions(rewind_before_invocation_id="inv-2")), "rewind", "rewind: invocation inv-2 and all later ones taken back"),
    (
        event(
            actions=EventActions(
                compaction=EventCompaction(start_timestamp=1, end_timestamp=2, compacted_content=types.Content(parts=[text("short")]))
            )
        ),
        "compaction",
        "summary of earlier events: short",
    ),
    (event(), "empty", "no content and no change"),
    (event(turn_complete=True), "empty", "end of the turn"),
    (event(interrupted=True), "empty", "the user interrupted the answer"),
    (event(text("It is in Le"), interrupted=True), "answer", "It is in Le   ·   interrupted"),
]


@pytest.mark.rule("I1")
@pytest.mark.parametrize(("given", "kind", "summary"), CASES, ids=[f"{number}-{case[1]}" for number, case in enumerate(CASES)])
def test_each_kind_has_its_summary(given: Event, kind: str, summary: str) -> None:
    shown = describe(given)
    assert (shown.kind, shown.summary) == (kind, summary)


def test_a_confirmation_request_waits_and_is_not_a_failure() -> None:
    original = {"id": "c0", "name": "transfer_money", "args": {"amount": 250, "to": "Zoë"}}
    asking = describe(event(call("adk_request_confirmation", originalFunctionCall=original), long_running_tool_ids={"c1"}))
    assert (asking.kind, asking.role) == ("waiting", "warn")
    assert asking.summary == 'asks to confirm transfer_money(amount=250, to="Zoë")'
    held_back = event(
        result("transfer_money", {"error": "This tool call requires confirmation"}),
        actions=EventActions(requested_tool_confirmations={"c1": ToolConfirmation(hint="sure?")}),
    )
    assert describe(held_back).kind == "waiting"
    assert "failed" not in describe(held_back).summary
    assert describe(event(result("adk_request_confirmation", {"confirmed": True}), author="user")).summary == "confirmed"


def test_a_long_running_tool_without_a_result_was_called() -> None:
    assert describe(event(custom_metadata={CALLED_WITHOUT_RESULT: ["c1"]})).summary == "the call was made; its result comes later"


def test_failures_and_errors_are_marked() -> None:
    failed = describe(event(result("check_credit", {"error": "timeout"})))
    assert (failed.role, failed.icon) == ("bad", ICONS["error"])
    assert describe(event(error_code="X")).role == "bad"
    data = types.FunctionResponse(name="x", response={"error": "e", "rows": []})
    assert failure_of(data) is None


def test_a_hostile_event_is_one_short_visible_line() -> None:
    for hostile in (
        event(text("a\n" * 100_000)),
        event(text("safe\u202eevil\x1b[2J")),
        event(call("n" * 10_000, **{"k" * 5000: "v" * 100_000})),
        event(result("x", {"a": [[[[[[[[1]]]]]]]]})),
        event(actions=EventActions(agent_state={"k": "v" * 100_000})),
        event(actions=EventActions(state_delta={f"k{n}": n for n in range(10_000)})),
        event(error_message="e" * 1_000_000),
    ):
        summary = describe(hostile).summary
        assert len(summary) < 4 * SUMMARY_LIMIT
        assert "\n" not in summary and "\u202e" not in summary and "\x1b" not in summary


def test_ids_are_shortened_and_tokens_counted() -> None:
    assert short_id("e-08d9c790-35d2-4dc0-8f07-7ecc7bb42bc2") == "e-08d9c790"
    assert short_id("08d9c790-35d2-4dc0-8f07-7ecc7bb42bc2") == "08d9c790"
    assert short_id("inv-1") == "inv-1"
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=120, candidates_token_count=17)
    assert tokens_of(event(usage_metadata=usage)) == 137
    assert tokens_of(event()) == 0


def test_every_stored_event_of_google_adk_has_a_summary() -> None:
    databases = sorted((fixtures_dir() / "open").glob("*v1*.db"))
    kinds = set()
    for path in databases:
        connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        for (data,) in connection.execute("select event_data from events"):
            shown = describe(Event.model_validate_json(data))
            assert shown.summary.strip()
            kinds.add(shown.kind)
        connection.close()
    expected = {
        "user input",
        "answer",
        "tool call",
        "tool result",
        "transfer",
        "escalate",
        "checkpoint",
        "end of agent",
        "error",
        "waiting",
    }
    assert expected | {"rewind", "compaction", "code", "state change"} <= kinds


CALLS = [*(call("transfer_to_agent", agent_name=name) for name in ("pricing", "done", "nothing")), call("find"), call("transferred to p")]
RESULTS = [{}, {"result": None}, {"result": "done"}, {"result": "transfer → pricing"}, {"error": "no"}]


@pytest.mark.parametrize("called", CALLS, ids=lambda part: str(part.function_call.args or part.function_call.name))
@pytest.mark.parametrize("target", ["pricing", "done", None])
def test_a_call_and_its_result_are_told_apart(called: types.Part, target: str | None) -> None:
    assert called.function_call is not None and called.function_call.name is not None
    for answer in RESULTS:
        returned = event(result(called.function_call.name, answer), actions=EventActions(transfer_to_agent=target))
        assert describe(returned).summary != describe(event(called)).summary


@pytest.mark.sweep
@pytest.mark.parametrize("name", [entry["file"] for entry in varied()])
def test_a_stored_call_and_its_result_are_told_apart(name: str) -> None:
    with StoredDatabase.open(str(fixtures_dir() / "open" / name)) as database:
        for summary in database.listing():
            calls: dict[str | None, str] = {}
            for each in database.plain_events(summary.key):
                row = describe(each).summary
                assert row not in [calls.get(response.id) for response in each.get_function_responses()]
                calls.update((one.id, row) for one in each.get_function_calls())

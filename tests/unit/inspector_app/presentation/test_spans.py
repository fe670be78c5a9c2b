"""The timeline of an invocation, from its events alone."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from inspector_app.presentation.spans import HeldTime, activity, free_pieces, without_holds
from inspector_app.presentation.time_scale import TimeScale
from inspector_app.presentation.timeline_rows import Section, Timeline
from inspector_app.presentation.timeline_rows import timeline as timeline_of
from runtime.events import Event, EventActions


def timeline(events: list[Event], first: int = 0) -> Timeline:
    return timeline_of([Section("", activity(events, first))])


def said(author: str, at: float, *parts: types.Part, branch: str | None = None, tokens: int = 0, **fields: Any) -> Event:
    role = "user" if author == "user" else "model"
    usage = types.GenerateContentResponseUsageMetadata(total_token_count=tokens) if tokens else None
    content = types.Content(role=role, parts=list(parts))
    return Event(author=author, timestamp=at, branch=branch, content=content, usage_metadata=usage, invocation_id="i", **fields)


def text(words: str) -> types.Part:
    return types.Part(text=words)


def call(name: str, call_id: str) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, id=call_id, args={}))


def result(name: str, call_id: str, **response: Any) -> types.Part:
    return types.Part(function_response=types.FunctionResponse(name=name, id=call_id, response=response))


def lines(shown: Timeline) -> dict[str, list[tuple[str, float, float | None]]]:
    return {f"{row.author}/{row.label}": [(bar.kind, bar.start, bar.end) for bar in row.bars] for row in shown.rows}


def test_a_model_call_begins_at_the_previous_event_and_a_tool_call_ends_at_its_result() -> None:
    shown = timeline(
        [
            said("user", 100.0, text("40 boxes")),
            said("desk", 100.7, call("find", "c-1"), call("stock", "c-2"), tokens=612),
            said("desk", 101.0, result("stock", "c-2")),
            said("desk", 101.5, result("find", "c-1", error="timeout")),
            said("desk", 102.5, text("Here."), tokens=799),
        ],
        first=130,
    )
    assert lines(shown) == {
        "desk/desk": [("agent", 100.0, 102.5)],
        "desk/model": [("model", 100.0, 100.7), ("model", 101.5, 102.5)],
        "desk/find": [("tool", 100.7, 101.5)],
        "desk/stock": [("tool", 100.7, 101.0)],
    }
    find = shown.rows[2].bars[0]
    assert (find.index, find.last, find.failed) == (131, 133, True)
    assert [bar.label for bar in shown.rows[1].bars] == ["612 tokens", "799 tokens"]


def test_a_model_call_does_not_begin_at_an_event_of_a_parallel_branch() -> None:
    shown = timeline(
        [
            said("user", 0.0, text("go")),
            said("a", 1.0, text("one"), branch="fan.a"),
            said("b", 3.0, text("two"), branch="fan.b"),
            said("a", 4.0, text("three"), branch="fan.a"),
        ]
    )
    assert lines(shown)["b/model"] == [("model", 0.0, 3.0)]
    assert lines(shown)["a/model"] == [("model", 0.0, 1.0), ("model", 1.0, 4.0)]


def test_a_long_running_call_waits_until_the_user_answers() -> None:
    asked = said("desk", 1.0, call("approve", "c-1"), long_running_tool_ids={"c-1"})
    placed = said("desk", 1.1, result("approve", "c-1", status="pending"))
    assert lines(timeline([asked, placed]))["desk/approve"] == [("wait", 1.0, None)]
    answered = said("user", 60.0, result("approve", "c-1", status="approved"))
    assert lines(timeline([asked, placed, answered]))["desk/approve"] == [("wait", 1.0, 60.0)]


def test_a_call_without_a_result_has_no_end() -> None:
    (bar,) = next(row for row in timeline([said("desk", 1.0, call("find", "c-1"))]).rows if row.label == "find").bars
    assert (bar.kind, bar.start, bar.end, bar.index, bar.last, bar.label) == ("tool", 1.0, None, 0, 0, "open")


def test_a_long_pause_is_shortened_on_the_scale() -> None:
    scale = TimeScale([0.0, 1.0, 2.0, 40_000.0, 40_001.0])
    assert [round(scale.place(time), 3) for time in (0.0, 1.0, 2.0, 40_000.0, 40_001.0)] == [0.0, 0.313, 0.627, 0.687, 1.0]
    assert [(pause.start, pause.end) for pause in scale.pauses] == [(2.0, 40_000.0)]
    assert all(tick <= 2.0 or tick >= 40_000.0 for tick in scale.ticks(6))


def test_a_long_model_call_is_not_a_pause() -> None:
    """The story after its resume: 1.1 s for the critic, 7.6 s for the reviser, and little else."""
    shown = timeline(
        [
            said("user", 0.0, text("go")),
            said("critic", 1.0, text("dull")),
            said("flow", 7_800.0),
            said("critic", 7_801.1, text("better")),
            said("reviser", 7_808.7, text("A story")),
        ]
    )
    assert [(pause.start, pause.end) for pause in shown.scale.pauses] == [(1.0, 7_800.0)]
    begin, middle, end = (shown.scale.place(time) for time in (7_800.0, 7_801.1, 7_808.7))
    assert end - middle == pytest.approx((middle - begin) * 7.6 / 1.1)


def test_each_run_of_an_agent_has_its_own_bar() -> None:
    done = EventActions(end_of_agent=True)
    shown = timeline(
        [
            said("user", 0.0, text("go")),
            said("critic", 1.0, text("dull")),
            said("critic", 1.1, actions=done),
            said("reviser", 2.0, text("A story")),
            said("flow", 7_800.0),
            said("reviser", 7_800.5, actions=done),
            said("critic", 7_802.0, text("better")),
        ]
    )
    assert lines(shown)["critic/critic"] == [("agent", 0.0, 1.1), ("agent", 7_800.5, 7_802.0)]
    assert lines(shown)["reviser/reviser"] == [("agent", 1.1, 2.0), ("agent", 7_800.0, 7_800.5)], "not across the interruption"


def test_an_agent_is_indented_below_displayed_agents_only() -> None:
    below_nobody = timeline([said("north", 1.0, text("500"), branch="fan.north"), said("merger", 2.0, text("done"))])
    assert [(row.label, row.indent) for row in below_nobody.rows] == [("north", 0), ("model", 1), ("merger", 0), ("model", 1)]
    below_one = timeline([said("fan", 1.0, text("go")), said("north", 2.0, text("500"), branch="fan.north")])
    assert [(row.label, row.indent) for row in below_one.rows] == [("fan", 0), ("model", 1), ("north", 1), ("model", 2)]


@pytest.mark.parametrize(("length", "ticks"), [(3.4, [0, 1, 2, 3]), (0.04, [0, 0.01, 0.02, 0.03, 0.04]), (0.0, [0])])
def test_ticks_are_round(length: float, ticks: list[float]) -> None:
    assert [round(tick - 1000.0, 6) for tick in TimeScale([1000.0, 1000.0 + length]).ticks(5)] == ticks


@given(st.lists(st.floats(0, 1e10), min_size=1, max_size=30))
def test_a_scale_keeps_the_order_and_stays_within_its_width(times: list[float]) -> None:
    scale = TimeScale(times)
    places = [scale.place(time) for time in sorted(times)]
    assert places == sorted(places)
    assert all(-1e-9 <= place <= 1 + 1e-9 for place in places)
    assert len(scale.ticks(6)) < 40


def test_time_at_a_hold_is_no_work_of_a_model_or_tool() -> None:
    found = activity(
        [
            said("user", 100.0, text("40 boxes")),
            said("desk", 131.0, call("pay", "c-1"), branch="fan.left"),
            said("desk", 172.0, result("pay", "c-1"), branch="fan.left"),
        ]
    )
    held_before_model, held_after_tool = HeldTime(100.1, 130.0, None), HeldTime(132.0, 171.9, "fan.left")
    without_holds(found, [held_before_model, HeldTime(131.0, 172.0, "fan.right"), held_after_tool])
    assert [(span.kind, span.start, span.end) for span in found.calls] == [("model", 130.0, 131.0), ("tool", 131.0, 132.0)]


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)).map(sorted)), st.floats(0, 50), st.floats(50, 100))
def test_pieces_without_holds_and_the_holds_make_up_the_time(times: list[list[float]], start: float, end: float) -> None:
    edges = sorted(edge for pair in times for edge in pair)
    holds = [HeldTime(*pair, None) for pair in zip(edges[::2], edges[1::2], strict=True)]
    free = sum(after - before for before, after in free_pieces(start, end, None, holds))
    held = sum(max(0.0, min(hold.end, end) - max(hold.start, start)) for hold in holds)
    assert free + held == pytest.approx(end - start)
    assert free_pieces(start, end, None, ()) == [(start, end)]

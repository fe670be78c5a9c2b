"""Rows, lanes and the critical path of a timeline."""

from __future__ import annotations

from array import array
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from inspector_app.documents.recorded_spans import RecordedCalls, with_recorded_times
from inspector_app.presentation.critical_path import mark_critical_path
from inspector_app.presentation.lanes import CRITICAL, FAILED, FEW, SOME, Lane, lanes_of
from inspector_app.presentation.spans import Activity, Span, activity
from inspector_app.presentation.timeline_rows import Section, Timeline, timeline
from runtime.storage.recordings.recording import Recording, recording_beside
from tests.recorded_desk import KEY, START, Desk, desk, write_desk
from tests.recorder import load_recorder


def span(start: float, end: float, name: str = "find", **fields: object) -> Span:
    return Span("tool", "desk", name, start, end, 0, 0, **fields)  # type: ignore[arg-type]


def lane(spans: list[Span]) -> Lane:
    return Lane(spans, array("d", (one.start for one in spans)), array("d", (one.end or 1.0 for one in spans)))


def invocation(made: Desk, name: str) -> tuple[int, Activity]:
    first = next(index for index, event in enumerate(made.events) if event.invocation_id == name)
    return first, activity([event for event in made.events if event.invocation_id == name], first)


def labels(shown: Timeline) -> list[str]:
    return [row.label for row in shown.rows]


def test_calls_that_ran_at_once_have_rows_of_their_own(tmp_path: Path) -> None:
    made = write_desk(tmp_path / "desk.db")
    shown = timeline([Section("", recorded(made, tmp_path, "i-1"))])
    assert labels(shown) == ["desk", "model", "transfer_to_agent", "shipping", "model", "find_order", "track", ""]
    assert [round((bar.end or 0) - bar.start, 3) for row in shown.rows[-2:] for bar in row.bars] == [1.1, 0.7]


def recorded(made: Desk, folder: Path, name: str) -> Activity:
    recording = Recording(recording_beside(folder / "desk.db"))
    calls = RecordedCalls(recording.model_calls(KEY, [name]), recording.tool_calls(KEY, [name]))
    recording.close()
    return with_recorded_times(invocation(made, name)[1], calls, {name})


def test_times_are_those_that_were_recorded(tmp_path: Path) -> None:
    made = write_desk(tmp_path / "desk.db")
    found = recorded(made, tmp_path, "i-1")
    model = found.calls[0]
    assert (round(model.start - START, 3), round((model.end or 0) - model.start, 3), model.exact) == (0.1, 0.8, True)
    assert model.first is not None and round(model.first - model.start, 3) == 0.2
    assert timeline([Section("", found)]).sources == "Times of calls as recorded"
    assert timeline([Section("", invocation(made, "i-1")[1])]).sources == "Times of calls computed from events"


def test_a_recorded_call_without_an_event_is_added_and_a_wait_keeps_its_length(tmp_path: Path) -> None:
    made = desk()
    made.models.append({"agent": "judge", "started": START + 45.0, "ended": 2.0, "first": None, "event_id": made.events[-1].id})
    write_failing_judge(tmp_path / "desk.rec.db", made)
    found = recorded(made, tmp_path, "i-2")
    (failed,) = [one for one in found.calls if one.author == "judge"]
    assert (failed.index, failed.failed, failed.exact) == (None, True, True)
    wait = next(one for one in found.calls if one.name == "approve_discount")
    assert wait.kind == "wait" and (wait.end or 0) - wait.start > 599
    assert "judge" in labels(timeline([Section("", found)]))


def write_failing_judge(file: Path, made: Desk) -> None:
    module = load_recorder()
    recording = module.Recording(file)
    call = module.ModelCall(tuple(KEY), "i-2", None, SimpleNamespace(name="judge"), None, started=START + 45.0)
    call.ended, call.error = 2.0, "TimeoutError: no answer"
    recording.add_model_call(call)
    tool = module.ToolCall(tuple(KEY), "i-2", None, "desk", "approve_discount", "c-6", started=START + 50.0)
    tool.ended = 0.01
    recording.add_tool_call(tool)
    recording.close()


def test_two_invocations_begin_at_the_same_place() -> None:
    made = desk()
    shown = timeline([Section("first", invocation(made, "i-1")[1]), Section("second", invocation(made, "i-2")[1])])
    starts = [row.bars[0].start - row.zero for row in shown.rows if row.label == "desk"]
    assert [row.label for row in shown.rows if row.kind == "section"] == ["first", "second"]
    assert starts == [0.0, 0.0]
    assert shown.row_of(7) == labels(shown).index("model", labels(shown).index("second"))


def test_the_critical_path_is_what_the_length_depends_on() -> None:
    model, long, short, answer = span(0, 1, "model"), span(1, 4, "long"), span(1, 2, "short"), span(4, 5, "model")
    still = Span("tool", "desk", "open", 2.0, None)
    mark_critical_path([model, long, short, answer, still])
    assert [one.critical for one in (model, long, short, answer, still)] == [True, True, False, True, False]


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 10)), max_size=40))
def test_calls_on_the_critical_path_do_not_overlap(made: list[tuple[float, float]]) -> None:
    spans = [span(start, start + length) for start, length in made]
    mark_critical_path(spans)
    path = sorted((one for one in spans if one.critical), key=lambda one: (one.end, one.start))
    assert all((before.end or 0) <= after.start + 1e-5 or before.end == after.end for before, after in pairwise(path))
    assert bool(path) == bool(spans)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 0.2)), max_size=60))
def test_bars_of_a_lane_do_not_overlap(made: list[tuple[float, float]]) -> None:
    spans = [span(start, start + length) for start, length in sorted(made)]
    lanes = lanes_of(spans, [one.start for one in spans], [one.end or 0 for one in spans], most=100)
    assert sum(len(one.spans) for one in lanes) == len(spans)
    for one in lanes:
        assert all(right <= left for right, left in zip(one.bars.right, one.bars.left[1:], strict=False))


def many(count: int) -> Lane:
    return lane([span(number / count, (number + 0.5) / count, failed=number == count // 3) for number in range(count)])


def test_many_bars_are_merged_to_no_more_than_the_pixels_and_failures_are_kept() -> None:
    for count in (SOME, 20 * SOME):
        bars, shown, least = many(count).visible(0.0, 1.0, 1 / 1000)
        assert 0 < len(shown) <= 1000
        assert least > 0
        assert any(bars.flags[number] & FAILED for number in shown)
        assert not any(bars.flags[number] & CRITICAL for number in shown)


def test_few_visible_bars_are_drawn_one_by_one() -> None:
    bars, shown, least = many(20_000).visible(0.5, 0.5 + FEW / 20_000 / 2, 1e-9)
    assert (least, len(shown)) == (0.0, FEW // 2 + 1)
    assert bars is many(20_000).bars or len(bars.left) == 20_000


def test_the_bar_at_a_place_is_found_with_its_neighbours() -> None:
    spans = many(1000)
    assert spans.near(0.5002, 0.0) == (500, 1)
    number, count = spans.near(0.5, 0.01)
    assert number in (499, 500) and 18 <= count <= 22
    assert spans.near(2.0, 0.001) == (None, 0)

"""The text of a resume plan."""

from __future__ import annotations

from inspector_app.running.preflight import preflight_of
from runtime.events.event import Event
from runtime.history.invocations import Invocation, PendingItem
from runtime.running.resume_plan import ResumePlan, ToolRun


def plan(**changes: object) -> ResumePlan:
    invocation = Invocation("e-12345678", "interrupted", "no final answer", "a", "b", {})
    made = ResumePlan(invocation, next_steps=["pay_agent runs pay."])
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def words(**changes: object) -> list[tuple[str, str]]:
    """Return the lines except that of the next step."""
    return [(line.role, line.text) for line in preflight_of(plan(**changes), lambda _: 12).lines if line.icon != "play"]


def test_a_plan_without_warnings_is_one_sentence() -> None:
    shown = preflight_of(plan(last_checkpoint=Event(author="flow")), lambda _: 12)
    assert shown.title == "Resume e-12345678 from the checkpoint at 12?"
    assert [line.text for line in shown.lines] == ["pay_agent runs pay."] and not shown.warns and shown.blocked == ""


def test_a_repeated_call_is_a_warning_with_its_arguments() -> None:
    ((role, text),) = words(runs_again=[ToolRun("desk", "pay", {"amount": 5}, "c1")])
    assert role == "warn" and "desk → pay(amount=5)" in text and "at least once" in text


def test_agents_that_start_over_and_changes_are_warnings() -> None:
    shown = preflight_of(plan(starts_over=["Flow"], changed=["Old took part."], next_steps=[]), lambda _: None)
    assert [line.role for line in shown.lines] == ["warn", "warn"] and shown.warns
    assert [line.text.count("Flow keeps no checkpoints") for line in shown.lines] == [1, 0], "reported once"


def test_finished_lost_and_pending_parts_are_not_warnings() -> None:
    waits = PendingItem("long_running", "e-1", "c", "approve")
    roles = [role for role, _ in words(finished=["A", "B"], lost_temp=["temp:x"], waits_for=[waits])]
    assert roles == ["dim", "dim", "ok"]
    assert not preflight_of(plan(finished=["A"], lost_temp=["temp:x"]), lambda _: 1).warns


def test_a_blocking_reason_comes_first() -> None:
    shown = preflight_of(plan(blocks=["The invocation is finished: done."], lost_temp=["temp:x"]), lambda _: 1)
    assert shown.blocked == "The invocation is finished: done." and shown.lines[0].role == "bad"


def test_control_characters_of_foreign_names_are_written_out() -> None:
    assert "\x1b" not in words(starts_over=["a\x1b[2J"])[0][1]

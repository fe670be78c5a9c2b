"""The calls of a run, of any contexts with an agent, a branch and a depth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from runtime.debugger.agent_calls import AgentCalls
from runtime.events import Event


@dataclass
class Agent:
    name: str


@dataclass
class RunningSession:
    state: dict[str, Any] = field(default_factory=dict)


@dataclass
class Shared:
    outer: tuple[Context, str | None] | None = None
    committed_state: dict[str, Any] = field(default_factory=dict)


@dataclass
class Context:
    agent: Agent
    depth: int
    branch: str | None
    session: RunningSession
    shared: Shared


class Run:
    """One run, whose contexts share a session."""

    def __init__(self, outer: tuple[Context, str | None] | None = None) -> None:
        self.session, self.shared = RunningSession(), Shared(outer)

    def context(self, name: str, depth: int, branch: str | None = None) -> Context:
        return Context(Agent(name), depth, branch, self.session, self.shared)


def test_a_call_knows_the_calls_it_is_inside_of() -> None:
    calls, run = AgentCalls(), Run()
    root = calls.entered(run.context("root", 1))
    below = calls.entered(run.context("below", 2))
    assert (root.level, below.level) == (0, 1)
    assert list(below.callers()) == [root]
    assert below.is_within(root) and not below.runs_beside(root)


def test_a_call_returns_with_the_calls_it_made() -> None:
    calls, run = AgentCalls(), Run()
    context = run.context("root", 1)
    root = calls.entered(context)
    below = calls.entered(run.context("below", 2))
    assert below.is_active()
    assert calls.left(context) is root
    assert root.returned and below.returned and not below.is_active()
    assert calls.of_context(context) is None


def test_a_call_ends_earlier_calls_of_its_depth_on_its_branch() -> None:
    calls, run = AgentCalls(), Run()
    calls.entered(run.context("root", 1))
    first = calls.entered(run.context("first", 2))
    beside = calls.entered(run.context("beside", 2, "p.beside"))
    calls.entered(run.context("second", 2))
    assert first.returned and not beside.returned


def test_calls_on_parallel_branches_run_beside_each_other() -> None:
    calls, run = AgentCalls(), Run()
    calls.entered(run.context("root", 1))
    left = calls.entered(run.context("left", 2, "root.left"))
    right = calls.entered(run.context("right", 2, "root.right"))
    inner = calls.entered(run.context("inner", 3, "root.right"))
    assert left.runs_beside(right)
    assert calls.beside(left) == [inner]


def test_an_agent_that_runs_as_a_tool_is_inside_the_call_of_its_caller() -> None:
    calls, run = AgentCalls(), Run()
    context = run.context("asker", 1)
    asker = calls.entered(context)
    helper = calls.entered(Run((context, "c1")).context("helper", 1))
    assert helper.caller is asker
    assert helper.path == ("call c1",)


def test_an_event_is_of_the_call_that_yielded_it_or_of_its_author() -> None:
    calls, run = AgentCalls(), Run()
    context = run.context("root", 1)
    root = calls.entered(context)
    below = calls.entered(run.context("below", 2))
    assert calls.of_event(Event(author="root"), context) is root
    assert calls.of_event(Event(author="below"), context) is below
    assert calls.of_event(Event(author="gone"), None) is None


def test_uncommitted_keys_are_those_with_another_value_than_the_committed_one() -> None:
    calls, run = AgentCalls(), Run()
    assert calls.uncommitted() == {}
    calls.entered(run.context("root", 1))
    run.session.state.update(same=1, changed=[2], new=3)
    run.shared.committed_state.update(same=1, changed=[1])
    assert calls.uncommitted() == {"changed": [2], "new": 3}


def test_all_calls_return_when_the_run_is_over() -> None:
    calls, run = AgentCalls(), Run()
    root = calls.entered(run.context("root", 1))
    calls.clear()
    assert root.returned
    assert calls.beside(root) == []

"""Conditions with names that the agent does not have."""

from __future__ import annotations

from typing import Any

import pytest

from inspector_app.running.known_names import KnownNames, names_of, unknown_name, unknown_tool
from runtime.agents import BaseAgent, LlmAgent, SequentialAgent, ToolContext
from runtime.expressions import parse
from runtime.tools import BaseTool, BaseToolset, FunctionTool
from runtime.tools.agent_tool import AgentTool


def charge(amount: float, to: str, tool_context: ToolContext) -> dict[str, Any]:
    return {}


def look_up(query: str) -> dict[str, Any]:
    return {}


def now() -> dict[str, Any]:
    return {}


class Undeclared(BaseTool):
    """Does not declare its arguments."""


class Broken(BaseTool):
    """Fails to declare its arguments."""

    def _get_declaration(self) -> Any:
        raise OSError("no network")


class Later(BaseToolset):
    """Has its tools only while the agent runs."""

    async def get_tools(self, readonly_context: Any = None) -> list[BaseTool]:
        return []


def agent(*tools: Any) -> BaseAgent:
    inner = LlmAgent(name="archive", model="m", tools=[look_up])
    desk = LlmAgent(name="desk", model="m", tools=[charge, FunctionTool(now), AgentTool(inner), *tools])
    return SequentialAgent(name="shop", sub_agents=[desk])


KNOWN = names_of(agent(Undeclared(name="odd", description=""), Broken(name="broken", description="")))


def test_all_agents_and_tools_are_known_with_their_arguments() -> None:
    assert sorted(KNOWN.agents) == ["archive", "desk", "shop"]
    assert KNOWN.all_tools
    assert {name: arguments and sorted(arguments) for name, arguments in KNOWN.tools.items()} == {
        "charge": ["amount", "to"],
        "now": [],
        "archive": ["request"],
        "look_up": ["query"],
        "odd": None,
        "broken": None,
    }


@pytest.mark.parametrize(
    ("condition", "hint"),
    [
        ("call.charge.args.amuont > 100", "`charge` has no argument `amuont`; did you mean `amount`? (It takes amount, to.)"),
        ("call.now.args.zone", "`now` has no argument `zone`; it takes none."),
        ("call.chrage.args.amount > 100", "This agent has no tool `chrage`; did you mean `charge`?"),
        ("response.xyz.ok", "This agent has no tool `xyz`; its tools are archive, broken, charge, look_up, now, odd."),
        ("call.charge.amount > 100", "A call has `args`, `id` and `name`; write an argument as call.charge.args.amount"),
        ('author == "dask"', "There is no author `dask`; did you mean `desk`?"),
        ('author in ["desk", "nobody_at_all"]', "There is no author `nobody_at_all`"),
        ('text contains "a" and not (call.charge.args.tto == "x")', "`charge` has no argument `tto`; did you mean `to`?"),
    ],
)
def test_an_unknown_name_is_reported_with_the_known_ones(condition: str, hint: str) -> None:
    assert unknown_name(parse(condition), KNOWN).startswith(hint)


@pytest.mark.parametrize(
    "condition",
    [
        "call.charge.args.amount > 100",
        "call.charge.args['to'] == 'rent'",
        "call.*.args.anything",
        "call.charge.args.*",
        "call contains 'x'",
        "call.charge.id == 'c'",
        "call.odd.args.what",
        "call.broken.args.what",
        "call.transfer_to_agent.args.agent_name == 'x'",
        "response.charge.anything",
        'author == "user" or author == "archive" or author == "system"',
        'author contains "sk"',
        'state["anything"] changed',
        "json.anything.else",
    ],
)
def test_a_name_that_the_agent_may_have_is_not_reported(condition: str) -> None:
    assert unknown_name(parse(condition), KNOWN) == ""


def test_with_a_toolset_any_tool_is_possible() -> None:
    known = names_of(agent(Later()))
    assert not known.all_tools
    assert unknown_name(parse("call.other.args.x"), known) == "" and unknown_tool("other", known) == ""
    assert unknown_name(parse("call.charge.args.amuont"), known) != ""


def test_without_an_agent_nothing_is_reported() -> None:
    assert unknown_name(parse('call.a.args.b and author == "c"'), KnownNames()) == ""
    assert unknown_tool("a", KnownNames()) == ""


def test_an_agent_without_tools() -> None:
    assert unknown_tool("pay", names_of(LlmAgent(name="talker", model="m"))) == "This agent has no tool `pay`; it has none."

"""An agent's colour is its place in its app."""

from __future__ import annotations

import random
from typing import Any

import pytest

from inspector_app.presentation.author_colours import USER_ROLE, AuthorColours


def agent(name: str, *below: dict[str, Any], model: str | None = "m", tools: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"name": name, "model": model, "sub_agents": list(below), "tool_agents": list(tools)}


APP = agent("all", agent("desk", agent("clerk"), tools=(agent("finder"),)), agent("both", agent("a"), agent("b"), model=None), model=None)
NAMES = ("desk", "clerk", "finder", "a", "b", "all", "both")


@pytest.mark.parametrize("seed", range(20))
def test_a_colour_depends_on_no_session_and_on_no_order_of_speaking(seed: int) -> None:
    chance = random.Random(seed)
    colours = AuthorColours()
    colours.set_app("app", APP)
    for _ in range(3):
        colours.clear()
        speakers = chance.sample(NAMES, chance.randint(1, len(NAMES)))
        assert {name: colours.role(name) for name in speakers} == {name: f"author{NAMES.index(name)}" for name in speakers}
        assert colours.authors == speakers
        colours.set_app("other", agent("b"))
        assert colours.role("b") == "author0"
        colours.set_app("app", APP)


@pytest.mark.parametrize("is_known", [True, False])
def test_eight_agents_differ_and_the_others_have_a_sign(is_known: bool) -> None:
    colours = AuthorColours()
    names = [f"agent_{number}" for number in range(20)]
    colours.set_app("app", agent(names[0], *map(agent, names[1:])) if is_known else {})
    found = [(colours.role(name), colours.sign(name)) for name in names]
    assert len(set(found)) == 20 and len({role for role, _ in found[:8]}) == 8
    assert [sign for _, sign in found] == [0] * 8 + [1] * 8 + [2] * 4
    assert USER_ROLE not in {role for role, _ in found} and colours.role("user") == USER_ROLE


def test_an_agent_that_is_not_described_comes_after_those_that_are() -> None:
    colours = AuthorColours()
    colours.set_app("app", {})
    assert colours.role("ghost") == "author0"
    colours.set_app("app", APP)
    assert (colours.role("desk"), colours.role("ghost")) == ("author0", "author7")

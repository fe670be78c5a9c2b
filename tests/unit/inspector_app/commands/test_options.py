"""Commands declared by the classes of their options."""

from __future__ import annotations

from typing import Annotated

import pytest
import typer

from inspector_app.cli import app_command
from inspector_app.commands import parameters as given
from inspector_app.commands.command_class import InspectorCommand
from inspector_app.commands.options.base import COMMANDS, PANELS, Command, Options, closing, exclude, in_order
from inspector_app.commands.options.branching import ForkOptions
from inspector_app.commands.options.changing import Prune
from inspector_app.commands.problems import UsageError


class Greet(Options):
    """Greet people."""

    names: given.Users = ()
    loud: Annotated[bool, typer.Option("--loud")] = False
    times: Annotated[int, given.option("--times", "N", "How often.", given.count)] = 1


def test_texts_are_converted_by_the_callbacks() -> None:
    seen: list[Options] = []
    command = InspectorCommand("greet", Greet, lambda options: seen.append(options) or 0, closing())  # type: ignore[func-returns-value]
    for words, expected in (
        ([], {"names": [], "loud": False, "times": 1}),
        (["--user", "a", "--user", "b", "--loud", "--times", "3"], {"names": ["a", "b"], "loud": True, "times": 3}),
    ):
        with command.make_context("greet", words) as context:
            assert command.invoke(context) == 0
        assert vars(seen[-1]) == expected


def test_the_help_names_options_values_and_defaults() -> None:
    command = InspectorCommand("greet", Greet, lambda _: 0, closing("greet --loud"))
    with command.make_context("greet", []) as context:
        lines = [line.split() for line in command.get_help(context).splitlines()]
    assert ["--times", "N", "How", "often.", "[default:", "1]"] in lines
    assert ["--loud"] in lines
    assert "  greet --loud" in command.get_help(context).splitlines()


def test_options_that_are_not_given_have_their_default() -> None:
    options = Greet(loud=True)
    assert (options.names, options.loud, options.times) == ((), True, 1)


def test_every_command_has_a_panel_and_its_own_function() -> None:
    assert sorted(COMMANDS) == sorted(app_command().commands)
    assert [PANELS.index(COMMANDS[name].panel) for name in in_order()] == sorted(PANELS.index(each.panel) for each in COMMANDS.values())
    for name, each in COMMANDS.items():
        assert (":" in each.target) != (name in ("help", "version")), name
        assert each.options.__doc__, name


def test_contradicting_options_are_refused_before_the_command_is_imported() -> None:
    command = Command("", "not_a_module:run", closing(), Prune)
    with pytest.raises(UsageError, match="--yes and --dry-run exclude each other"):
        command.run(Prune(db="a.db", days=3, yes=True, dry_run=True))
    with pytest.raises(UsageError, match="give --at, not --before"):
        ForkOptions(db="a.db", before="i", rerun=True, agent="story").check()
    exclude(("--a", None), ("--b", 1))

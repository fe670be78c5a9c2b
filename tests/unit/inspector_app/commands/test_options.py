"""Commands declared by the classes of their options."""

from __future__ import annotations

from typing import Annotated

import pytest
import typer

from inspector_app.cli import app_command
from inspector_app.commands import parameters as given
from inspector_app.commands.options.base import COMMANDS, PANELS, Command, Options, closing, exclude, in_order, typer_function
from inspector_app.commands.options.branching import ForkOptions
from inspector_app.commands.options.changing import Prune
from inspector_app.commands.problems import UsageError


class Greet(Options):
    """Greet people."""

    names: given.Users = ()
    loud: Annotated[bool, typer.Option("--loud")] = False
    times: Annotated[int, given.option("--times", "N", "How often.", given.count)] = 1


def test_typer_sees_texts_that_the_callbacks_convert() -> None:
    seen: list[Options] = []
    call = typer_function(Greet, lambda options: seen.append(options) or 0)  # type: ignore[func-returns-value]
    assert call(names=None, loud=True, times=3) == 0
    assert vars(seen[0]) == {"names": (), "loud": True, "times": 3}
    assert call.__doc__ == "Greet people."


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

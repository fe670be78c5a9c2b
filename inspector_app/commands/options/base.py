"""Commands declared by the class of their options."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar, dataclass_transform

from inspector_app.commands import parameters as given
from inspector_app.commands.problems import UsageError

PANELS = READ, RUN, BRANCH, CHANGE, SERVE, HELP = (
    "Read a database",
    "Run an agent",
    "Fork and compare",
    "Change a database",
    "Serve",
    "Help",
)
EXIT_STATUS = (
    "Exit status: 0 done; 1 failed, a sentence says why (compare: the sessions differ); 2 wrong usage; 3 the invocation is paused and waits"
    " for an answer; 130 interrupted; 143 terminated."
)


@dataclass_transform(kw_only_default=True)
class Options:
    """The options of a command: an attribute for each, of the type that its callback returns, annotated with what Typer shows of it.

    A subclass is written as a dataclass, and its docstring is the command's help. It is made into no real one, because that takes a tenth
    of the time of `--help`.
    """

    def __init__(self, **given: Any) -> None:
        """Set the given options; the others have their default."""
        self.__dict__.update(given)

    def check(self) -> None:
        """Raise UsageError if the options contradict each other."""


class OfSession(Options):
    """The options that name a session."""

    db: given.Database
    app: given.App = None
    user: given.User = None
    session: given.Session = None


class Command(NamedTuple):
    """A command.

    Attributes:
        panel: the part of the help in which it is listed.
        target: the module below `inspector_app.commands` and the function that runs it.
        closing: the end of its help.
        options: its options.
    """

    panel: str
    target: str
    closing: str
    options: type[Options]

    def run(self, options: Options) -> int:
        """Import the command's module and run it, so that nothing else of it is imported before."""
        options.check()
        module, _, function = self.target.partition(":")
        run: Callable[[Options], int] = getattr(importlib.import_module(f"inspector_app.commands.{module}"), function)
        return run(options)


COMMANDS: dict[str, Command] = {}  # by name
T = TypeVar("T", bound=Options)


def command(name: str, panel: str, target: str, *examples: str, more: Sequence[str] = ()) -> Callable[[type[T]], type[T]]:
    """Return a decorator that declares a command by its options.

    Args:
        name: as it is typed.
        panel, target: see `Command`.
        examples: complete command lines.
        more: paragraphs of the help after the examples.
    """

    def declare(options: type[T]) -> type[T]:
        COMMANDS[name] = Command(panel, target, closing(*examples, more=more), options)
        return options

    return declare


def in_order() -> list[str]:
    """Return the names of the commands in the order of the help."""
    return sorted(COMMANDS, key=lambda name: PANELS.index(COMMANDS[name].panel))


def closing(*commands: str, more: Sequence[str] = ()) -> str:
    """Return the end of a help text: examples, indented, then paragraphs."""
    return "\n".join(("Examples:", *(f"  {each}" for each in commands), *more, EXIT_STATUS))


def exclude(*options: tuple[str, object]) -> None:
    """Raise UsageError if both of two options are given."""
    (one, first), (other, second) = options
    if first is not None and second is not None:
        raise UsageError(f"{one} and {other} exclude each other.")

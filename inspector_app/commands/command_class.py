"""What every command of the command line has in common, on top of Typer."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from inspector_app.commands import stdout
from inspector_app.commands.quick_help import import_rich_help


class _Unchanged:
    """Passes values on as they are. Typer's own conversion loads pydantic, which takes longer than most commands."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value; nothing for an option that can be repeated is an empty list."""
        if value is None and (param.multiple or param.nargs == -1):
            return []
        return list(value) if isinstance(value, tuple) else value


_UNCHANGED = _Unchanged()


def _adapted(params: Iterable[Any]) -> list[Any]:
    """Return parameters that pass their values on, and whose help names no Python types."""
    found = list(params)
    for param in found:
        param.get_runtime_param = lambda: _UNCHANGED
        if isinstance(param, TyperArgument):
            _name_plainly(param)
        elif param.is_flag:
            param.metavar = ""
    return found


def _name_plainly(argument: Any) -> None:
    """Let an argument's help and usage say `DB`, not `{DB}` and `<str>`."""
    name = argument.metavar if argument.required else f"[{argument.metavar}]"
    argument.get_usage_pieces = lambda ctx: [name if argument.nargs == 1 else f"{name}..."]
    argument.display_type_rich = lambda ctx: None


def _print_closing(paragraphs: str) -> None:
    """Print the end of a help text. Lines that begin with spaces are examples: they are not wrapped, so that they can be pasted."""
    width = max(shutil.get_terminal_size().columns - 2, 20)
    for line in paragraphs.splitlines():
        wrapped = textwrap.indent(textwrap.fill(line, width, break_on_hyphens=False), " ")
        stdout.write(f"{line}\n" if line.startswith(" ") else f"\n{wrapped}\n")


@contextmanager
def _help_output() -> Iterator[None]:
    try:
        with stdout.failures_reported():
            yield
    except SystemExit:  # rich's answer to a closed output
        raise stdout.OutputClosedError from None


class InspectorCommand(TyperCommand):
    """A command whose options may be shortened as long as they are unique (`--sess`), and whose help reports a failed output.

    Args:
        options: those of Typer's command.
        epilog: printed after the options; see `_print_closing`.
    """

    def __init__(self, *, epilog: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._closing = epilog or ""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters."""
        return _adapted(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words after the command's name; `--help` prints here."""
        with _help_output():
            return super().parse_args(ctx, self._with_whole_names(args, completing=ctx.resilient_parsing))

    def _with_whole_names(self, words: Sequence[str], *, completing: bool) -> list[str]:
        """Return the words with shortened options written out, and without an option whose value is being completed."""
        flags = {name: option.is_flag for option in self.params if isinstance(option, TyperOption) for name in option.opts}
        flags |= {"--help": True}
        whole: list[str] = []
        is_value = False
        for position, word in enumerate(words):
            if is_value:
                is_value = False
            elif word == "--":
                return [*whole, *words[position:]]
            elif word.startswith("--"):
                name, equals, value = word.partition("=")
                known = [name] if name in flags else [option for option in flags if option.startswith(name)]
                if len(known) == 1:
                    is_value = not equals and not flags[known[0]]
                    word = f"{known[0]}{equals}{value}"
            whole.append(word)
        return whole[:-1] if completing and is_value else whole

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        import_rich_help()
        with _help_output():
            super().format_help(ctx, formatter)
        _print_closing(self._closing)


class InspectorGroup(TyperGroup):
    """All commands, in the order in which they are defined.

    Args:
        options: those of Typer's group.
        epilog: printed after the commands; see `_print_closing`.
    """

    def __init__(self, *, epilog: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._closing = epilog or ""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters."""
        return _adapted(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words before a command's name; `--help` prints here."""
        with _help_output():
            return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        return list(self.commands)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        import_rich_help()
        with _help_output():
            super().format_help(ctx, formatter)
        _print_closing(self._closing)

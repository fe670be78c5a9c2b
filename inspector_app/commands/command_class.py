"""Commands for Typer, made from the classes of their options."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, get_args, get_origin, get_type_hints

import typer
from typer._coercion import resolve_type_descriptor
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_param_callback, get_param_completion
from typer.models import OptionInfo

from inspector_app.commands import stdout
from inspector_app.commands.options.base import COMMANDS, PANELS, Options

_SETTINGS = {"max_content_width": 120}


class _Unchanged:
    """Passes values on as they are. Typer's own conversion loads pydantic, which takes longer than most commands."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value; nothing for an option that can be repeated is an empty list."""
        if value is None and (param.multiple or param.nargs == -1):
            return []
        return list(value) if isinstance(value, tuple) else value


class _Option(TyperOption):
    """An option whose value is a text until its callback converts it."""

    def get_runtime_param(self) -> Any:
        """Return the conversion."""
        return _Unchanged()


class _Argument(TyperArgument):
    """An argument whose value is a text until its callback converts it, and whose help names no Python type."""

    def get_runtime_param(self) -> Any:
        """Return the conversion."""
        return _Unchanged()

    def get_usage_pieces(self, ctx: Any) -> list[str]:
        """Return its name, as it is written in the usage."""
        name = self.display_name_raw if self.required else f"[{self.display_name_raw}]"
        return [name if self.nargs == 1 else f"{name}..."]

    def display_type_rich(self, ctx: Any) -> str | None:
        """Return no type."""
        return None


def _parameters_of(options: type[Options]) -> list[Any]:
    """Return the parameters of a command, one for each of its options; those that must be given come first."""
    found = [_parameter(options, name, *get_args(hint)) for name, hint in get_type_hints(options, include_extras=True).items()]
    return sorted(found, key=lambda each: not each.required)


def _parameter(options: type[Options], name: str, kind: Any, shown: Any) -> TyperOption | TyperArgument:
    is_many = get_origin(kind) is Sequence
    is_flag = bool in (kind, *get_args(kind))
    common: dict[str, Any] = {
        "type_descriptor": resolve_type_descriptor(list[str] if is_many else bool if is_flag else str, shown),
        "required": not hasattr(options, name),
        "default": None if is_many else getattr(options, name, None),
        "callback": get_param_callback(callback=shown.callback),
        "autocompletion": get_param_completion(shown.autocompletion),
        "metavar": shown.metavar,
        "help": shown.help,
        "show_default": shown.show_default,
    }
    if isinstance(shown, OptionInfo):
        decls: list[Any] = [name, shown.default, *(shown.param_decls or ())]  # `Option("--app")`: its first parameter is called a default
        parts = [get_args(each) for each in get_args(kind) if get_origin(each) is tuple and not is_many]
        words = next((len(each) for each in parts if {*each} == {str}), 1)  # other tuples are made of one word
        return _Option(param_decls=decls, is_flag=is_flag, multiple=is_many, nargs=words, hidden=shown.hidden, **common)
    return _Argument(param_decls=[name], nargs=-1 if is_many else None, **common)


def _show_help(ctx: Any, _param: Any, is_wanted: bool | None) -> None:
    if is_wanted and not ctx.resilient_parsing:
        with stdout.failures_reported():
            typer.echo(ctx.get_help())
        ctx.exit()


def _help_option() -> TyperOption:
    return _Option(
        param_decls=["-h", "--help"],
        type_descriptor=resolve_type_descriptor(bool, typer.Option()),
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_help,
        help="Show this message and exit.",
    )


def _common(options: type[Options], run: Callable[[Any], int], closing: str) -> dict[str, Any]:
    """Return what commands and the program give to Typer."""
    return {
        "callback": lambda **given: run(options(**given)),
        "params": [*_parameters_of(options), _help_option()],
        "help": options.__doc__,
        "epilog": closing,
        "context_settings": _SETTINGS,
        "rich_markup_mode": None,
    }


def _write_section(formatter: Any, title: str, rows: list[tuple[str, str]]) -> None:
    with formatter.section(title if "NO_COLOR" in os.environ else typer.style(title, fg="yellow", bold=True)):
        formatter.write_dl(rows)


class _Help:
    """The parts of a help text."""

    epilog: str | None
    get_params: Callable[[Any], list[Any]]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options."""
        rows: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            row = param.get_help_record(ctx)
            if row is not None:
                rows.setdefault("Arguments" if isinstance(param, TyperArgument) else "Options", []).append(row)
        for title, listed in rows.items():
            _write_section(formatter, title, listed)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the end of the help. Lines that begin with spaces are examples: they are not wrapped, so that they can be pasted."""
        for line in (self.epilog or "").splitlines():
            if line.startswith(" "):
                formatter.write(f"{line}\n")
            else:
                formatter.write_paragraph()
                formatter.write_text(line)


class InspectorCommand(_Help, TyperCommand):
    """A command whose options may be shortened as long as they are unique (`--sess`), and whose help reports a failed output."""

    def __init__(self, name: str, options: type[Options], run: Callable[[Any], int], closing: str) -> None:
        super().__init__(name, **_common(options, run, closing))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words after the command's name."""
        return super().parse_args(ctx, self._with_whole_names(args, completing=ctx.resilient_parsing))

    def _with_whole_names(self, words: Sequence[str], *, completing: bool) -> list[str]:
        """Return the words with shortened options written out, and without an option whose value is being completed."""
        flags = {name: option.is_flag for option in self.params if isinstance(option, TyperOption) for name in option.opts}
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


class InspectorGroup(_Help, TyperGroup):
    """All commands, in the order in which they are given."""

    def __init__(self, options: type[Options], run: Callable[[Any], int], closing: str, commands: dict[str, Any]) -> None:
        super().__init__(commands=commands, invoke_without_command=True, **_common(options, run, closing))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        return list(self.commands)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, then a list of the commands for each panel."""
        super().format_options(ctx, formatter)
        width = max(map(len, self.commands))
        for panel in PANELS:
            listed = {name: each for name, each in self.commands.items() if COMMANDS[name].panel == panel}
            if listed:
                rows = [(name.ljust(width), (each.help or "").partition("\n")[0]) for name, each in listed.items()]
                _write_section(formatter, panel, rows)

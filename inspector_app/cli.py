"""The command line: opens the window or runs a headless command.

Results go to stdout, problems to stderr. Each command's modules are imported when it runs, so that help, completion and the window do not
load the agent and database code, and the commands never load Qt.
"""

from __future__ import annotations

import importlib
import os
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import FrameType
from typing import IO, Any

import typer
from typer.completion import get_completion_inspect_parameters

from inspector_app.commands import stdout
from inspector_app.commands.command_class import InspectorCommand, InspectorGroup
from inspector_app.commands.options import branching, changing, reading, running, serving  # noqa: F401 - they declare the commands
from inspector_app.commands.options.base import COMMANDS, Options, closing, in_order
from inspector_app.commands.options.helping import Help
from inspector_app.commands.options.window import WINDOW, Program
from inspector_app.commands.problems import UsageError
from inspector_app.presentation.values import visible_lines
from runtime.errors import KnownError
from runtime.storage.connections.database_url import typed_passwords
from runtime.support.texts import TerminatedError

DONE, FAILED, USAGE, PAUSED, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143
PROGRAM = "agent-inspector"
COMPLETION_VARIABLE = "_AGENT_INSPECTOR_COMPLETE"  # set by the completion scripts
RUNNING = ("run", "eval", "resume", "fork", "rewind", "delete", "prune")  # a closed output cuts them off


def show_help(options: Help) -> int:
    """Print the help of a command, or of all."""
    if options.command == "where":
        stdout.write(f"{importlib.import_module('runtime.expressions').__doc__}\n")
        return DONE
    if options.command is not None and options.command not in COMMANDS:
        near = get_close_matches(options.command, COMMANDS, 1)
        raise UsageError(f"There is no command {options.command}.{f' Did you mean {near[0]}?' if near else ''}")
    return _run([*([options.command] if options.command else []), "--help"])


def print_version(_options: Options | None = None) -> int:
    """Print the version."""
    try:
        number = importlib.import_module("importlib.metadata").version(PROGRAM)
    except ImportError:  # the package has no metadata
        number = "(not installed)"
    stdout.write(f"{PROGRAM} {number}\n")
    return DONE


_HERE: dict[str, Callable[[Any], int]] = {"help": show_help, "version": print_version}  # commands that this module runs


def _program(options: Program) -> int:
    return print_version() if options.show_version else DONE


def app_command(only: str | None = None) -> Any:
    """Return the commands as Typer's group.

    Args:
        only: the name of the one that will run, because building all of them takes as long as running one; None: all.
    """
    examples = closing("agent-inspector my_agent sessions.db", "agent-inspector sessions sessions.db")
    declared = {name: COMMANDS[name] for name in (in_order() if only not in COMMANDS else [only])}
    commands = {name: InspectorCommand(name, each.options, _HERE.get(name, each.run), each.closing) for name, each in declared.items()}
    return InspectorGroup(Program, _program, examples, commands)


def _window_command() -> Any:
    return InspectorCommand(PROGRAM, WINDOW.options, WINDOW.run, WINDOW.closing)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: without the program's name; None: those of the process.

    Returns:
        The exit status.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    stdout.open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        _write_any_text(stream)
    termination = _Termination()
    previous = _on_termination(termination)
    is_run = bool(arguments) and arguments[0] in RUNNING
    passwords = typed_passwords(arguments)
    try:
        with stdout.hidden_in_complaints(passwords):
            status = _answer(arguments)
        stdout.write("")
        return status
    except stdout.OutputFailedError as error:
        stdout.complain(f"agent-inspector: {error}\n")
        return FAILED
    except stdout.OutputClosedError:
        return FAILED if is_run else DONE  # the reader has read enough, but a run that was cut off is not done
    except KeyboardInterrupt:
        return TERMINATED if termination.came else INTERRUPTED
    finally:
        _on_termination(previous)


class _Termination:
    """A handler of SIGTERM, which does what Ctrl-C does: private copies are deleted and files are closed.

    An exception raised here could end any callback of an event loop, such as the one that notes a child's end, which would be waited for
    without end. asyncio's own handler of Ctrl-C cancels the main task instead.

    Attributes:
        came: whether there was a signal.
    """

    def __init__(self) -> None:
        self.came = False

    def __call__(self, _number: int, frame: FrameType | None) -> None:
        self.came = True
        interrupt = signal.getsignal(signal.SIGINT)
        if not callable(interrupt) or interrupt is signal.default_int_handler:
            raise TerminatedError
        interrupt(signal.SIGINT, frame)


def _on_termination(handler: Any) -> Any:
    """Set the handler of SIGTERM and return the previous one; do nothing outside the main thread or where SIGTERM is ignored."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) in (signal.SIG_IGN, None):
        return None
    return signal.signal(signal.SIGTERM, signal.SIG_DFL if handler is None else handler)


def _answer(arguments: list[str]) -> int:
    try:
        return _run(arguments)
    except SystemExit as finished:
        return finished.code if isinstance(finished.code, int) else USAGE
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        return _wrong_usage(error.format_message(), context, arguments)
    except UsageError as error:
        return _wrong_usage(str(error), None, arguments)
    except stdout.OutputFailedError:
        raise
    except KnownError as error:
        details = getattr(error, "traceback", None)
        stdout.complain(f"{details}\n" if details else "")
        stdout.complain(f"agent-inspector: {visible_lines(str(error))}{visible_lines(_for_first_choice(error, arguments))}\n")
        return FAILED


def _for_first_choice(error: KnownError, arguments: list[str]) -> str:
    """Return the command that names the first of several agents, to be pasted; empty if the error is another one."""
    choices: tuple[str, ...] = getattr(error, "choices", ())
    path = getattr(error, "path", "")
    if not choices or path not in arguments:
        return ""
    words = [str(Path(path) / choices[0]) if word == path else word for word in arguments]
    return f" Such as: {shlex.join([PROGRAM, *words])}"


def _wrong_usage(sentence: str, context: Any, arguments: Sequence[str]) -> int:
    is_command = bool(arguments) and arguments[0] in COMMANDS
    usage = f"{PROGRAM} {arguments[0]} --help" if is_command else f"{PROGRAM} --help"
    if context is not None:
        usage = " ".join(context.get_usage().split()).removeprefix("Usage: ")
    stdout.complain(f"usage: {usage}\nagent-inspector: {visible_lines(sentence)}\n")
    return USAGE


def _run(arguments: list[str]) -> int:
    completes = COMPLETION_VARIABLE in os.environ
    group = app_command(arguments[0] if arguments and not completes else None)
    if completes:
        get_completion_inspect_parameters()  # registers the shells
        group.main(args=arguments, prog_name=PROGRAM)
    is_command = bool(arguments) and (arguments[0] in group.commands or arguments[0] in ("-h", "--help", "--version"))
    parser = group if is_command else _window_command()
    try:
        with parser.make_context(PROGRAM, arguments) as context:  # not `main`, which would swallow SIGTERM's exception
            status = parser.invoke(context)
    except typer.Exit as finished:
        return int(finished.exit_code)
    return status if isinstance(status, int) else DONE


def _write_any_text(stream: IO[str]) -> None:
    """Let a stream write any text in any encoding, so that no output is lost because of one character."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")

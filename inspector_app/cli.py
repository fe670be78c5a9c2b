"""The command line: opens the window, or answers a headless subcommand.

Answers go to stdout, problems to stderr. What a subcommand needs is imported when it runs: asking for help, or opening the window, does
not pay for the agents and the database, and the subcommands never load Qt.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Sequence
from typing import IO, Any

from inspector_app.commands import stdout
from runtime.errors import KnownError

DONE, FAILED, USAGE, PAUSED, INTERRUPTED = 0, 1, 2, 3, 130

READING = "inspector_app.commands.reading"
CONVERTING = "inspector_app.commands.converting"
RUNNING = "inspector_app.commands.running"
SERVING = "inspector_app.commands.serving"
WINDOW = "inspector_app.commands.window"

EPILOG = """\
headless, for scripts (each has its own --help, and --json):
  agent-inspector sessions DB
  agent-inspector events DB --app A --user U --session S [--where EXPR] [--limit N] [--after EVENT_ID]
  agent-inspector state DB --app A --user U --session S [--at EVENT_ID]
  agent-inspector invocations DB --app A --user U --session S
  agent-inspector convert OLD NEW
  agent-inspector run AGENT --message TEXT [--db DB] [--app A] [--user U] [--session S] [--state JSON] [--streaming]
  agent-inspector resume AGENT --db DB --session S [--app A] [--user U] [--invocation I] [--response JSON [--call ID]]
  agent-inspector api_server FOLDER [--port 8000] [--host localhost]

exit status: 0 done, 1 failed (a sentence says why), 2 usage, 3 the invocation is paused and waits for an answer, 130 interrupted
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says.

    Args:
        arguments: without the program's name; the process's own if None.

    Returns:
        The exit status.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    for stream in (sys.stdout, sys.stderr):
        _write_any_text(stream)
    running = bool(arguments) and arguments[0] in ("run", "resume")
    try:
        status = _answer(arguments)
        stdout.write("")
        return status
    except stdout.OutputClosedError:
        return FAILED if running else DONE  # whoever closed it has read enough; but a run that was cut off is not done
    except KeyboardInterrupt:
        return INTERRUPTED


def _answer(arguments: Sequence[str]) -> int:
    try:
        options = _parse(arguments)
        command: Callable[[argparse.Namespace], int] = _load(options.command)
        return command(options)
    except SystemExit as finished:  # argparse printed help, or what is wrong with the arguments
        return finished.code if isinstance(finished.code, int) else USAGE
    except KnownError as error:
        details = getattr(error, "traceback", None)
        sys.stderr.write(f"{details}\n" if details else "")
        sys.stderr.write(f"agent-inspector: {error}\n")
        return FAILED


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    makers: dict[str, Callable[[], argparse.ArgumentParser]] = {
        "sessions": _sessions_parser,
        "events": _events_parser,
        "state": _state_parser,
        "invocations": _invocations_parser,
        "convert": _convert_parser,
        "run": _run_parser,
        "resume": _resume_parser,
        "api_server": _api_server_parser,
    }
    if arguments and arguments[0] in makers:
        parser = makers[arguments[0]]()
        options = parser.parse_args(arguments[1:])
        if arguments[0] == "resume" and options.call is not None and options.response is None:
            parser.error("--call says which call --response answers: give both")
        return options
    return _window_parser().parse_args(arguments)


def _window_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agent-inspector",
        description="Open the inspector: watch agents live, stop anywhere, see the state, resume what crashed.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="an agent's folder or file, and/or a session database (file or URL)")
    parser.add_argument("--trust", action="store_true", help="load the agent's code without asking")
    parser.add_argument("--theme", choices=("light", "dark", "system"), help="default: what was chosen last")
    parser.add_argument("--size", type=_size, metavar="WIDTHxHEIGHT", help="of the window, such as 1280x800")
    parser.add_argument("--screenshot", metavar="OUT.png", help="save a picture of the window and exit; works off screen")
    parser.set_defaults(command=f"{WINDOW}:open_window")
    return parser


def _sessions_parser() -> argparse.ArgumentParser:
    return _command("sessions", f"{READING}:sessions", "List the sessions of a database.", _database)


def _events_parser() -> argparse.ArgumentParser:
    parser = _command("events", f"{READING}:events", "List a session's events in commit order.", _database, _stored_session)
    parser.add_argument(
        "--where", metavar="EXPR", help="""only events for which this holds, such as 'kind == "tool call"'; see the README"""
    )
    parser.add_argument("--limit", type=_count, metavar="N", help="at most N events")
    parser.add_argument("--after", metavar="EVENT_ID", help="only what was committed after this event")
    return parser


def _state_parser() -> argparse.ArgumentParser:
    parser = _command("state", f"{READING}:state", "Show a session's state, now or after one of its events.", _database, _stored_session)
    parser.add_argument("--at", metavar="EVENT_ID", help="the state after this event; default: now")
    return parser


def _invocations_parser() -> argparse.ArgumentParser:
    text = "List a session's invocations: which are finished, paused or interrupted, and where they stand."
    return _command("invocations", f"{READING}:invocations", text, _database, _stored_session)


def _convert_parser() -> argparse.ArgumentParser:
    text = "Write all of a database, in any layout that google-adk ever wrote, into a new file of its present layout."
    parser = _command("convert", f"{CONVERTING}:convert", text)
    parser.add_argument("old", metavar="OLD", help="a session database, only read")
    parser.add_argument("new", metavar="NEW", help="the new file; must not exist")
    return parser


def _run_parser() -> argparse.ArgumentParser:
    parser = _command("run", f"{RUNNING}:run", "Send an agent a message and print its events as they are committed.", _agent)
    parser.add_argument("--message", required=True, metavar="TEXT")
    parser.add_argument("--db", metavar="DB", help="keep the session here (file or URL, made if missing); default: in memory")
    parser.add_argument("--session", metavar="S", help="made if it does not exist; default: a new one")
    parser.add_argument("--state", type=_json_object, default={}, metavar="JSON", help="keys to set before the agent starts")
    parser.add_argument("--streaming", action="store_true", help="let the model stream; its pieces are printed as they come")
    return parser


def _resume_parser() -> argparse.ArgumentParser:
    parser = _command("resume", f"{RUNNING}:resume", "Go on with an invocation that was interrupted or waits for an answer.", _agent)
    parser.add_argument("--db", required=True, metavar="DB", help="the database the session is in (file or URL)")
    parser.add_argument("--session", required=True, metavar="S")
    parser.add_argument("--invocation", metavar="I", help="default: the newest that is not finished")
    parser.add_argument("--response", type=_json_object, metavar="JSON", help="the answer to the call it waits for, a JSON object")
    parser.add_argument("--call", metavar="ID", help="which call is answered, when several wait")
    return parser


def _api_server_parser() -> argparse.ArgumentParser:
    text = "Serve agents to programs of this machine, with the endpoints of google-adk's api_server."
    parser = _command("api_server", f"{SERVING}:api_server", text)
    parser.add_argument("folder", metavar="FOLDER", help="an agent's folder, or a folder of such folders")
    parser.add_argument("--port", type=int, default=8000, metavar="N", help="default: 8000; 0: any that is free")
    parser.add_argument("--host", default="127.0.0.1", metavar="H", help="localhost, 127.0.0.1 (default) or ::1")
    return parser


def _command(name: str, command: str, description: str, *parts: Callable[[argparse.ArgumentParser], None]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"agent-inspector {name}", description=description)
    for add_part in parts:
        add_part(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(command=command)
    return parser


def _database(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("db", metavar="DB", help="a session database: a file or an SQLAlchemy URL")


def _stored_session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--app", required=True, metavar="A")
    parser.add_argument("--user", default="user", metavar="U", help='default: "user"')
    parser.add_argument("--session", required=True, metavar="S")


def _agent(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", help="a folder whose agent.py defines `app` or `root_agent`, or such a file")
    parser.add_argument("--app", metavar="A", help="default: the App's or the folder's name")
    parser.add_argument("--user", default="user", metavar="U", help='default: "user"')
    parser.add_argument("--trust", action="store_true", help="accepted; naming the agent here is trust enough")


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal() and int(width) and int(height)):
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 1280x800")
    return int(width), int(height)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of events")
    return int(text)


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"this is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError('it must be a JSON object, such as {"key": "value"}')
    return value


def _load(command: str) -> Callable[[argparse.Namespace], int]:
    module, _, function = command.partition(":")
    loaded: Callable[[argparse.Namespace], int] = getattr(importlib.import_module(module), function)
    return loaded


def _write_any_text(stream: IO[str]) -> None:
    """Let a stream write any text, whatever the terminal's encoding: an answer must not be lost for one of its letters."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")

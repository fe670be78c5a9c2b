"""The command line: opens the window or runs a headless subcommand.

Results go to stdout, problems to stderr. Each subcommand's modules are imported when it runs, so that `--help` and the window do not load
the agent and database code, and the subcommands never load Qt.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any

from inspector_app.commands import stdout
from inspector_app.presentation.values import visible_lines
from runtime.errors import KnownError

DONE, FAILED, USAGE, PAUSED, INTERRUPTED = 0, 1, 2, 3, 130

READING = "inspector_app.commands.reading"
COMPARING = "inspector_app.commands.comparing"
CONVERTING = "inspector_app.commands.converting"
DELETING = "inspector_app.commands.deleting"
FORKING = "inspector_app.commands.forking"
REWINDING = "inspector_app.commands.rewinding"
RUNNING = "inspector_app.commands.running"
SERVING = "inspector_app.commands.serving"
WINDOW = "inspector_app.commands.window"

EPILOG = """\
headless, for scripts (each has its own --help, and --json):
  agent-inspector sessions DB
  agent-inspector events DB --app A --user U --session S [--where EXPR] [--limit N] [--after EVENT_ID]
  agent-inspector state DB --app A --user U --session S [--at EVENT_ID | --writers KEY]
  agent-inspector invocations DB --app A --user U --session S
  agent-inspector convert OLD NEW
  agent-inspector run AGENT --message TEXT [--db DB] [--app A] [--user U] [--session S] [--state JSON] [--streaming]
  agent-inspector resume AGENT --db DB --session S [--app A] [--user U] [--invocation I] [--response JSON [--call ID]]
  agent-inspector fork DB --app A --user U --session S [--at EVENT_ID | --before INVOCATION] [--into DB2] [--new-session S2]
                       [--artifacts DIR] [--agent AGENT (--message TEXT | --rerun [--answer TEXT | --result JSON [--call ID]])]
  agent-inspector forks DB
  agent-inspector rewind DB --app A --user U --session S --before INVOCATION [--dry-run] [--in-place] [--artifacts DIR]
  agent-inspector delete DB --app A --user U --session S [--session S2] [--yes | --dry-run] [--in-place]
  agent-inspector prune DB --days N [--app A] [--user U] [--yes | --dry-run] [--in-place]
  agent-inspector undelete DB COPY
  agent-inspector compare DB [DB2] --app A --user U --session S [--session S2]
  agent-inspector api_server FOLDER [--port 8000] [--host localhost]

exit status: 0 done, 1 failed (the message says why), 2 usage, 3 the invocation is paused and waits for an answer, 130 interrupted
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: without the program's name; None: those of the process.

    Returns:
        The exit status.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    for stream in (sys.stdout, sys.stderr):
        _write_any_text(stream)
    running = bool(arguments) and arguments[0] in ("run", "resume", "fork", "delete", "prune")
    try:
        status = _answer(arguments)
        stdout.write("")
        return status
    except stdout.OutputClosedError:
        return FAILED if running else DONE  # the reader has read enough, but a run that was cut off is not done
    except KeyboardInterrupt:
        return INTERRUPTED


def _answer(arguments: Sequence[str]) -> int:
    try:
        options = _parse(arguments)
        command: Callable[[argparse.Namespace], int] = _load(options.command)
        return command(options)
    except SystemExit as finished:  # argparse printed help or an error
        return finished.code if isinstance(finished.code, int) else USAGE
    except KnownError as error:
        details = getattr(error, "traceback", None)
        sys.stderr.write(f"{details}\n" if details else "")
        sys.stderr.write(f"agent-inspector: {visible_lines(str(error))}\n")
        return FAILED


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    makers: dict[str, Callable[[], argparse.ArgumentParser]] = {
        "sessions": _sessions_parser,
        "events": _events_parser,
        "state": _state_parser,
        "invocations": _invocations_parser,
        "convert": _convert_parser,
        "fork": _fork_parser,
        "forks": _forks_parser,
        "rewind": _rewind_parser,
        "delete": _delete_parser,
        "prune": _prune_parser,
        "undelete": _undelete_parser,
        "compare": _compare_parser,
        "run": _run_parser,
        "resume": _resume_parser,
        "api_server": _api_server_parser,
    }
    if arguments and arguments[0] in makers:
        parser = makers[arguments[0]]()
        options = parser.parse_args(arguments[1:])
        problem = _CHECKS[arguments[0]](options) if arguments[0] in _CHECKS else None
        if problem:
            parser.error(problem)
        return options
    options = _window_parser().parse_args(arguments)
    for path in options.paths:
        meant = get_close_matches(path, makers, 1, 0.75)
        if meant and not Path(path).exists():
            _window_parser().error(f"{path} is not a file or folder; did you mean the command `{meant[0]}`?")
    return options


def _window_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agent-inspector",
        description="Open the inspector: watch agents live, stop them anywhere, inspect their state, resume crashed runs.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="an agent's folder or file, or a session database (file or URL), or both")
    parser.add_argument("--trust", action="store_true", help="load the agent's code without asking")
    parser.add_argument("--theme", choices=("light", "dark", "system"), help="default: the last one chosen")
    parser.add_argument("--size", type=_size, metavar="WIDTHxHEIGHT", help="size of the window, such as 1280x800")
    parser.add_argument("--screenshot", metavar="OUT.png", help="save a picture of the window and exit; works off screen")
    parser.set_defaults(command=f"{WINDOW}:open_window")
    return parser


def _sessions_parser() -> argparse.ArgumentParser:
    return _command("sessions", f"{READING}:sessions", "List the sessions of a database.", _database)


def _events_parser() -> argparse.ArgumentParser:
    parser = _command("events", f"{READING}:events", "List a session's events in commit order.", _database, _stored_session)
    parser.add_argument(
        "--where", metavar="EXPR", help="""only events that match this expression, such as 'kind == "tool call"'; see the README"""
    )
    parser.add_argument("--limit", type=_count, metavar="N", help="at most N events")
    parser.add_argument("--after", metavar="EVENT_ID", help="only events committed after this one")
    return parser


def _state_parser() -> argparse.ArgumentParser:
    parser = _command(
        "state", f"{READING}:state", "Show a session's state, at present or after one of its events.", _database, _stored_session
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--at", metavar="EVENT_ID", help="the state after this event; default: the present state")
    which.add_argument(
        "--writers", metavar="KEY", help="instead, list the writes of this key; for a user: or app: key also those of other sessions"
    )
    return parser


def _invocations_parser() -> argparse.ArgumentParser:
    text = "List a session's invocations: their status and checkpoints."
    return _command("invocations", f"{READING}:invocations", text, _database, _stored_session)


def _convert_parser() -> argparse.ArgumentParser:
    text = "Copy a database of any google-adk layout into a new file of the present layout."
    parser = _command("convert", f"{CONVERTING}:convert", text)
    parser.add_argument("old", metavar="OLD", help="the session database to read; it is not changed")
    parser.add_argument("new", metavar="NEW", help="the new file; must not exist")
    return parser


def _fork_parser() -> argparse.ArgumentParser:
    text = "Copy a session up to one of its events into a new session, and run an agent there if one is given. The original is not changed."
    parser = _command("fork", f"{FORKING}:fork", text, _database, _stored_session)
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--at", metavar="EVENT_ID", help="the last event to copy; default: the session's last event")
    where.add_argument("--before", metavar="INVOCATION", help="instead, copy everything before this invocation's message")
    parser.add_argument("--into", metavar="DB2", help="the fork's database, created if missing; default: the same, if it is ours")
    parser.add_argument("--new-session", metavar="S2", help="the fork's id; default: a new one")
    parser.add_argument(
        "--artifacts",
        metavar="DIR",
        help="the folder with the session's files and for the fork's; default: the one beside the database",
    )
    parser.add_argument("--agent", metavar="AGENT", help="run this agent in the fork")
    work = parser.add_mutually_exclusive_group()
    work.add_argument("--message", metavar="TEXT", help="send it this message")
    work.add_argument("--rerun", action="store_true", help="repeat the event's invocation: as recorded up to --at, live from there on")
    changed = parser.add_mutually_exclusive_group()
    changed.add_argument("--answer", metavar="TEXT", help="with --rerun: replaces the model's answer at --at")
    changed.add_argument("--result", type=_json_object, metavar="JSON", help="with --rerun: replaces the tool's result at --at")
    parser.add_argument("--call", metavar="ID", help="the call that --result answers, if the event has several")
    return parser


def _forks_parser() -> argparse.ArgumentParser:
    return _command("forks", f"{FORKING}:forks", "Show the forks in a database as trees.", _database)


def _rewind_parser() -> argparse.ArgumentParser:
    text = "Take back an invocation and all later ones: the session's state and files are restored. Nothing is deleted."
    parser = _command("rewind", f"{REWINDING}:rewind", text, _database, _stored_session)
    parser.add_argument("--before", required=True, metavar="INVOCATION", help="the first invocation to take back")
    parser.add_argument("--dry-run", action="store_true", help="only show what would be done")
    parser.add_argument("--in-place", action="store_true", help="write also into another program's database; a backup is made beside it")
    parser.add_argument("--artifacts", metavar="DIR", help="the folder with the session's files; default: the one beside the database")
    return parser


def _delete_parser() -> argparse.ArgumentParser:
    text = "Delete sessions with their events. They are copied first; `undelete` restores them."
    parser = _command("delete", f"{DELETING}:delete", text, _database, _asking)
    parser.add_argument("--app", required=True, metavar="A")
    parser.add_argument("--user", default="user", metavar="U", help='default: "user"')
    parser.add_argument("--session", required=True, action="append", metavar="S", help="a session to delete; repeat for each")
    return parser


def _prune_parser() -> argparse.ArgumentParser:
    text = "Delete the sessions that have not changed for some days. They are copied first; `undelete` restores them."
    parser = _command("prune", f"{DELETING}:prune", text, _database, _asking)
    parser.add_argument("--days", required=True, type=_count, metavar="N", help="minimum days without a change")
    parser.add_argument("--app", metavar="A", help="only sessions of this app")
    parser.add_argument("--user", metavar="U", help="only sessions of this user")
    return parser


def _undelete_parser() -> argparse.ArgumentParser:
    text = "Restore deleted sessions. Changes made to the database since then are kept."
    parser = _command("undelete", f"{DELETING}:undelete", text, _database)
    parser.add_argument("copy", metavar="COPY", help="the copy whose name `delete` or `prune` printed")
    return parser


def _compare_parser() -> argparse.ArgumentParser:
    text = "Align two sessions' events and show where they differ. Ids and times are ignored."
    parser = _command("compare", f"{COMPARING}:compare_sessions", text, _database)
    parser.add_argument("db2", nargs="?", metavar="DB2", help="the second session's database; default: the same")
    parser.add_argument("--app", action="append", required=True, metavar="A", help="the app's name, once or once for each session")
    parser.add_argument("--user", action="append", metavar="U", help='the user, once or once for each session; default: "user"')
    parser.add_argument("--session", action="append", required=True, metavar="S", help="once for each session; once if DB2 has the same id")
    return parser


def _run_parser() -> argparse.ArgumentParser:
    parser = _command("run", f"{RUNNING}:run", "Send an agent a message and print its events as they are committed.", _agent)
    parser.add_argument("--message", required=True, metavar="TEXT")
    parser.add_argument("--db", metavar="DB", help="store the session here (file or URL, created if missing); default: in memory")
    parser.add_argument("--session", metavar="S", help="created if it does not exist; default: a new session")
    parser.add_argument("--state", type=_json_object, default={}, metavar="JSON", help="keys to set before the agent starts")
    parser.add_argument("--streaming", action="store_true", help="let the model stream; print its output as it arrives")
    return parser


def _resume_parser() -> argparse.ArgumentParser:
    parser = _command("resume", f"{RUNNING}:resume", "Resume an invocation that was interrupted or waits for an answer.", _agent)
    parser.add_argument("--db", required=True, metavar="DB", help="the session's database (file or URL)")
    parser.add_argument("--session", required=True, metavar="S")
    parser.add_argument("--invocation", metavar="I", help="default: the newest one that is not finished")
    parser.add_argument("--response", type=_json_object, metavar="JSON", help="the answer to the call that it waits for, a JSON object")
    parser.add_argument("--call", metavar="ID", help="the call to answer, if several wait")
    return parser


def _api_server_parser() -> argparse.ArgumentParser:
    text = "Serve agents to programs on this machine, with the endpoints of google-adk's api_server."
    parser = _command("api_server", f"{SERVING}:api_server", text)
    parser.add_argument("folder", metavar="FOLDER", help="an agent's folder, or a folder of such folders")
    parser.add_argument("--port", type=int, default=8000, metavar="N", help="default: 8000; 0: any free port")
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


def _asking(parser: argparse.ArgumentParser) -> None:
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    how.add_argument("--dry-run", action="store_true", help="only show what would be deleted")
    parser.add_argument("--in-place", action="store_true", help="write also into another program's database; a backup is made beside it")


def _stored_session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--app", required=True, metavar="A")
    parser.add_argument("--user", default="user", metavar="U", help='default: "user"')
    parser.add_argument("--session", required=True, metavar="S")


def _agent(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", help="a folder whose agent.py defines `app` or `root_agent`, or the file itself")
    parser.add_argument("--app", metavar="A", help="default: the App's or the folder's name")
    parser.add_argument("--user", default="user", metavar="U", help='default: "user"')
    parser.add_argument("--trust", action="store_true", help="accepted without effect: this command always trusts the agent that it names")


def _check_resume(options: argparse.Namespace) -> str | None:
    return "--call names the call that --response answers: give both" if options.call is not None and options.response is None else None


def _check_fork(options: argparse.Namespace) -> str | None:
    if bool(options.agent) != (options.message is not None or options.rerun):
        return "--agent needs --message or --rerun, and either of these needs --agent"
    if (options.answer is not None or options.result is not None) and not options.rerun:
        return "--answer and --result change the recording: give --rerun, too"
    if options.rerun and options.before is not None:
        return "--rerun repeats an invocation up to an event: give --at, not --before"
    return "--call names the call that --result answers: give both" if options.call is not None and options.result is None else None


def _check_deletion(options: argparse.Namespace) -> str | None:
    return "--json cannot ask for confirmation: give --yes or --dry-run" if options.json and not (options.yes or options.dry_run) else None


def _check_compare(options: argparse.Namespace) -> str | None:
    most = 2
    for name in ("app", "user", "session"):
        if len(getattr(options, name) or ()) > most:
            return f"--{name} can be given at most twice: two sessions are compared"
    return "give two sessions, or a second database with the same session id" if not options.db2 and len(options.session) < most else None


# Checks of a subcommand's options that argparse cannot express; each returns a sentence for an error.
_CHECKS: dict[str, Callable[[argparse.Namespace], str | None]] = {
    "resume": _check_resume,
    "fork": _check_fork,
    "delete": _check_deletion,
    "prune": _check_deletion,
    "compare": _check_compare,
}


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal() and int(width) and int(height)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 1280x800")
    return int(width), int(height)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"this is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError('it must be a JSON object, such as {"key": "value"}')
    return value


def _load(command: str) -> Callable[[argparse.Namespace], int]:
    module, _, function = command.partition(":")
    loaded: Callable[[argparse.Namespace], int] = getattr(importlib.import_module(module), function)
    return loaded


def _write_any_text(stream: IO[str]) -> None:
    """Let a stream write any text in any encoding, so that no output is lost because of one character."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")

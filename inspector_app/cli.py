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
from typing import IO, Annotated, Any

import typer
from typer.completion import get_completion_inspect_parameters
from typer.main import get_command

from inspector_app.commands import parameters as given
from inspector_app.commands import stdout
from inspector_app.commands.command_class import InspectorCommand, InspectorGroup
from inspector_app.commands.completion import choices, users
from inspector_app.commands.completion import events as events_of
from inspector_app.commands.completion import sessions as existing_sessions
from inspector_app.commands.options import Options
from inspector_app.commands.problems import UsageError
from inspector_app.presentation.values import visible_lines
from runtime.errors import KnownError
from runtime.storage.connections.database_url import typed_passwords
from runtime.support.texts import TerminatedError

DONE, FAILED, USAGE, PAUSED, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143
PROGRAM = "agent-inspector"
COMPLETION_VARIABLE = "_AGENT_INSPECTOR_COMPLETE"  # set by the completion scripts
RUNNING = ("run", "eval", "resume", "fork", "rewind", "delete", "prune")  # a closed output cuts them off

READ, RUN, BRANCH, CHANGE, SERVE, HELP = "Read a database", "Run an agent", "Fork and compare", "Change a database", "Serve", "Help"
EXIT_STATUS = (
    "Exit status: 0 done; 1 failed, a sentence says why (compare: the sessions differ); 2 wrong usage; 3 the invocation is paused and waits"
    " for an answer; 130 interrupted; 143 terminated."
)
WINDOW_EXAMPLES = (
    "agent-inspector my_agent sessions.db",
    "agent-inspector resources/samples/orders --screenshot orders.png --trust",
)
EXPRESSIONS = (
    "--where: comparisons of names with values, joined by and, or, not. `agent-inspector help where` explains all of it.",
    "Names: author, kind, text (what people and models wrote), error, call.NAME.args.X, response.NAME.X (tool results), delta.KEY,"
    " tokens.total, state, json (the whole event).",
)


def _examples(*commands: str, more: Sequence[str] = ()) -> str:
    """Return the end of a help text: examples, indented, then paragraphs."""
    return "\n".join(("Examples:", *(f"  {command}" for command in commands), *more, EXIT_STATUS))


app = typer.Typer(
    cls=InspectorGroup, add_completion=False, rich_markup_mode="rich", context_settings={"help_option_names": ["-h", "--help"]}
)
window_app = typer.Typer(add_completion=False, rich_markup_mode="rich", context_settings={"help_option_names": ["-h", "--help"]})

TrustWindow = Annotated[bool, typer.Option("--trust", help="Load the agent's code without asking.")]
Theme = Annotated[
    str | None,
    given.option("--theme", "NAME", "light, dark, contrast or system. Default: the last one chosen.", given.theme, choices(*given.THEMES)),
]
Size = Annotated[str | None, given.option("--size", "WIDTHxHEIGHT", "Size of the window, such as 1280x800.", given.size)]
Screenshot = Annotated[
    str | None, given.option("--screenshot", "OUT.png", "Save a picture of the window and exit. Works without a display.")
]


@window_app.command(cls=InspectorCommand, epilog=_examples(*WINDOW_EXAMPLES))
def window(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH", callback=given.texts, show_default=False, help="An agent's folder or file, a session database, or both."
        ),
    ] = None,
    trust: TrustWindow = False,
    theme: Theme = None,
    size: Size = None,
    screenshot: Screenshot = None,
    engine: given.Engine = None,
    python: given.Python = None,
    debugpy: given.DebugpyPort = None,
    otlp: given.Otlp = None,
) -> int:
    """Open the window: watch agents live, stop them anywhere, inspect their state, resume crashed runs."""
    for path in paths or ():
        meant = get_close_matches(path, app_command().commands, 1, 0.75)
        if meant and not Path(path).exists():
            raise UsageError(f"{path} is not a file or folder; did you mean the command `{meant[0]}`?")
    return _call("window:open_window", {**locals(), "paths": paths or []})  # Typer gives None for no path


@app.callback(invoke_without_command=True, epilog=_examples("agent-inspector my_agent sessions.db", "agent-inspector sessions sessions.db"))
def main_options(
    context: typer.Context,
    trust: TrustWindow = False,
    theme: Theme = None,
    size: Size = None,
    screenshot: Screenshot = None,
    engine: given.Engine = None,
    python: given.Python = None,
    debugpy: given.DebugpyPort = None,
    otlp: given.Otlp = None,
    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> int:
    """Debug AI agents. `agent-inspector PATH...` opens the window on an agent's folder, a session database, or both."""
    if show_version:
        return print_version()
    return DONE


def _command(name: str, panel: str, *examples: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return a decorator that registers a command with its examples."""
    return app.command(name, cls=InspectorCommand, rich_help_panel=panel, epilog=_examples(*examples))


@_command("sessions", READ, "agent-inspector sessions sessions.db", "agent-inspector sessions postgresql://ana@localhost/agents --json")
def sessions(db: given.Database, json: given.AsJson = False) -> int:
    """List the sessions of a database."""
    return _call("reading:sessions", locals())


@app.command(
    "events",
    cls=InspectorCommand,
    rich_help_panel=READ,
    epilog=_examples(
        "agent-inspector events sessions.db --last 20",
        """agent-inspector events sessions.db --session s1 --where 'kind == "tool call" and tokens.total > 20000'""",
        more=EXPRESSIONS,
    ),
)
def events(
    db: given.Database,
    app: given.App = None,
    user: given.User = None,
    session: given.Session = None,
    where: Annotated[str | None, given.option("--where", "EXPR", "Only events that match this expression; see below.")] = None,
    last: Annotated[str | None, given.option("--last", "N", "Only the last N events.", given.count)] = None,
    limit: Annotated[str | None, given.option("--limit", "N", "At most N events.", given.count)] = None,
    after: Annotated[str | None, given.event("--after", "Only events committed after this one.")] = None,
    json: given.AsJson = False,
) -> int:
    """List a session's events in commit order."""
    if last is not None and (limit is not None or after is not None):
        raise UsageError("--last counts from the end: give it without --limit and --after.")
    return _call("reading:events", locals())


@_command(
    "state",
    READ,
    "agent-inspector state sessions.db --session s1 --at 3f2a",
    "agent-inspector state sessions.db --session s1 --writers user:plan",
)
def state(
    db: given.Database,
    app: given.App = None,
    user: given.User = None,
    session: given.Session = None,
    at: Annotated[str | None, given.event("--at", "The state after this event. Default: the present state.")] = None,
    writers: Annotated[
        str | None,
        given.option("--writers", "KEY", "Instead, list the writes of this key; of a user: or app: key also those of other sessions."),
    ] = None,
    json: given.AsJson = False,
) -> int:
    """Show a session's state, at present or after one of its events."""
    if at is not None and writers is not None:
        raise UsageError("--at and --writers exclude each other.")
    return _call("reading:state", locals())


@_command(
    "notes",
    READ,
    "agent-inspector notes sessions.db",
    """agent-inspector events sessions.db --session s1 --where 'bookmarked or note contains "stock"'""",
)
def notes(
    db: given.Database, app: given.App = None, user: given.User = None, session: given.Session = None, json: given.AsJson = False
) -> int:
    """List the comments and bookmarks that people left on events, of all sessions or of one."""
    return _call("noting:notes", locals())


@_command("invocations", READ, "agent-inspector invocations sessions.db --session s1")
def invocations(
    db: given.Database, app: given.App = None, user: given.User = None, session: given.Session = None, json: given.AsJson = False
) -> int:
    """List a session's invocations: their status and checkpoints."""
    return _call("reading:invocations", locals())


@_command(
    "costs",
    READ,
    "agent-inspector costs sessions.db",
    "agent-inspector costs sessions.db --session s1 --by tool --price my-model=0.30,2.50",
)
def costs(
    db: given.Database,
    app: given.App = None,
    user: given.User = None,
    session: given.Session = None,
    by: Annotated[
        str | None,
        given.option(
            "--by",
            "WHAT",
            "session, agent, model, tool, invocation or call. Default: session, or agent if there is one session only.",
            given.grouping,
            choices(*given.GROUPINGS),
        ),
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(
            "--price",
            metavar="MODEL=INPUT,OUTPUT",
            callback=given.prices,
            help="Your price for a model in US dollars for a million tokens; a third number is for cached ones. Repeat it for each model.",
        ),
    ] = None,
    model: Annotated[
        str | None, given.option("--model", "NAME", "The model of events that do not name theirs, if no recording is beside the database.")
    ] = None,
    json: given.AsJson = False,
) -> int:
    """Sum the tokens of model calls and what they cost."""
    return _call("costs:costs", locals())


@_command(
    "run",
    RUN,
    'agent-inspector run my_agent --message "40 boxes of paper" --db orders.db --session s1',
    'agent-inspector run my_agent --message hello --state \'{"user:plan": "gold"}\' --json',
)
def run(
    agent: given.Agent,
    message: Annotated[str | None, given.option("--message", "TEXT", "The user's message.")] = None,
    db: Annotated[
        str | None, given.option("--db", "DB", "Store the session here: a file or URL, created if missing. Default: in memory.")
    ] = None,
    app: given.AgentApp = None,
    user: Annotated[str, given.option("--user", "U", "The user.", propose=users)] = "user",
    session: Annotated[
        str | None, given.option("--session", "S", "Created if it does not exist. Default: a new session.", propose=existing_sessions)
    ] = None,
    state: Annotated[str | None, given.option("--state", "JSON", "Keys to set before the agent starts.", given.json_object)] = None,
    streaming: Annotated[bool, typer.Option("--streaming", help="Let the model stream; print its output as it arrives.")] = False,
    repeat: Annotated[
        str | None,
        given.option("--repeat", "N", "Send the message N times, each in a new session, and compare what they did.", given.count),
    ] = None,
    replay: Annotated[
        str | None,
        given.option("--replay", "DB", "Instead of a message, run a stored session of this database again, with the recorded answers."),
    ] = None,
    replay_session: Annotated[
        str | None, given.option("--replay-session", "S", "With --replay: the stored session, or its id's beginning.")
    ] = None,
    run_tools: Annotated[bool, typer.Option("--run-tools", help="With --replay: run the tools; only models are answered.")] = False,
    go_on: Annotated[
        bool, typer.Option("--go-on", help="With --replay: where it is no longer as recorded, continue with the real model.")
    ] = False,
    engine: given.Engine = None,
    python: given.Python = None,
    debugpy: given.DebugpyPort = None,
    no_record: given.NoRecord = False,
    trust: given.Trust = False,
    json: given.AsJson = False,
) -> int:
    """Send an agent a message, or run a stored session again, and print the events as they are committed."""
    if (message is None) == (replay is None) and not (message is None and agent.endswith(".capsule")):
        raise UsageError("Give either --message or --replay.")
    if repeat is not None and (message is None or streaming or not repeat):
        raise UsageError("--repeat N needs --message and a number of 1 or more, and does not stream.")
    if replay is None and (replay_session is not None or run_tools or go_on):
        raise UsageError("--replay-session, --run-tools and --go-on belong to --replay: give it, too.")
    return _call("running:run", {**locals(), "state": state or {}})


@_command(
    "eval",
    RUN,
    "agent-inspector eval my_agent my_agent/orders.evalset.json",
    "agent-inspector eval my_agent tests/*.test.json --engine adk --json",
    "agent-inspector eval my_agent orders.evalset.json:case_1,case_2 --db results.db",
)
def evaluate(
    agent: given.Agent,
    eval_sets: Annotated[
        list[str],
        typer.Argument(
            metavar="EVALSET",
            callback=given.texts,
            show_default=False,
            help="google-adk's *.evalset.json or *.test.json; after a colon, only these cases.",
        ),
    ],
    config: Annotated[
        str | None,
        given.option("--config", "FILE", "The criteria. Default: test_config.json beside the only eval set, or those of `adk eval`."),
    ] = None,
    db: Annotated[
        str | None, given.option("--db", "DB", "Store the sessions here, and beside a failed one what was expected. Default: in memory.")
    ] = None,
    app: given.AgentApp = None,
    engine: given.Engine = None,
    python: given.Python = None,
    debugpy: given.DebugpyPort = None,
    trust: given.Trust = False,
    json: given.AsJson = False,
) -> int:
    """Run eval sets on an agent and score its tool calls and responses as `adk eval` does; the exit status is 1 unless all pass."""
    return _call("evaluating:evaluate", locals())


@_command(
    "resume",
    RUN,
    "agent-inspector resume my_agent --db orders.db",
    'agent-inspector resume my_agent --db orders.db --session s1 --response \'{"status": "approved"}\'',
)
def resume(
    agent: given.Agent,
    db: Annotated[str, given.option("--db", "DB", "The session's database: a file or URL.")],
    app: given.AgentApp = None,
    user: given.User = None,
    session: given.Session = None,
    invocation: Annotated[str | None, given.invocation("--invocation", "Default: the newest one that is not finished.")] = None,
    response: Annotated[
        str | None, given.option("--response", "JSON", "The answer to the call that it waits for, a JSON object.", given.json_object)
    ] = None,
    call: Annotated[str | None, given.option("--call", "ID", "The call to answer, if several wait.")] = None,
    engine: given.Engine = None,
    python: given.Python = None,
    debugpy: given.DebugpyPort = None,
    no_record: given.NoRecord = False,
    trust: given.Trust = False,
    json: given.AsJson = False,
) -> int:
    """Resume an invocation that was interrupted or waits for an answer."""
    if call is not None and response is None:
        raise UsageError("--call names the call that --response answers: give both.")
    return _call("running:resume", locals())


@_command(
    "fork",
    BRANCH,
    "agent-inspector fork orders.db --session s1 --at 3f2a --new-session s2",
    "agent-inspector fork orders.db --session s1 --at 3f2a --agent my_agent --rerun --result '{\"in_stock\": 3}'",
)
def fork(
    db: given.Database,
    app: given.App = None,
    user: given.User = None,
    session: given.Session = None,
    at: Annotated[str | None, given.event("--at", "The last event to copy. Default: the session's last event.")] = None,
    before: Annotated[str | None, given.invocation("--before", "Instead, copy everything before this invocation's message.")] = None,
    into: Annotated[
        str | None, given.option("--into", "DB2", "The fork's database, created if missing. Default: the same, if it is ours.")
    ] = None,
    new_session: Annotated[str | None, given.option("--new-session", "S2", "The fork's id. Default: a new one.")] = None,
    artifacts: given.Artifacts = None,
    credentials: Annotated[bool, typer.Option("--credentials", help="Also copy the credentials that people gave.")] = False,
    agent: Annotated[str | None, given.option("--agent", "AGENT", "Run this agent in the fork.")] = None,
    message: Annotated[str | None, given.option("--message", "TEXT", "Send it this message.")] = None,
    rerun: Annotated[
        bool, typer.Option("--rerun", help="Repeat the event's invocation: as recorded up to --at, live from there on.")
    ] = False,
    answer: Annotated[str | None, given.option("--answer", "TEXT", "With --rerun: replaces the model's answer at --at.")] = None,
    result: Annotated[
        str | None, given.option("--result", "JSON", "With --rerun: replaces the tool's result at --at.", given.json_object)
    ] = None,
    call: Annotated[str | None, given.option("--call", "ID", "The call that --result answers, if the event has several.")] = None,
    engine: given.Engine = None,
    python: given.Python = None,
    debugpy: given.DebugpyPort = None,
    json: given.AsJson = False,
) -> int:
    """Copy a session up to one of its events into a new session, and run an agent there if one is given."""
    _exclude(("--at", at), ("--before", before))
    _exclude(("--message", message), ("--rerun", rerun or None))
    _exclude(("--answer", answer), ("--result", result))
    if bool(agent) != (message is not None or rerun):
        raise UsageError("--agent needs --message or --rerun, and either of these needs --agent.")
    if (engine is not None or python is not None) and agent is None:
        raise UsageError("--engine and --python choose what runs the agent: give --agent, too.")
    if (answer is not None or result is not None) and not rerun:
        raise UsageError("--answer and --result change the recording: give --rerun, too.")
    if rerun and before is not None:
        raise UsageError("--rerun repeats an invocation up to an event: give --at, not --before.")
    if call is not None and result is None:
        raise UsageError("--call names the call that --result answers: give both.")
    return _call("forking:fork", locals())


@_command("forks", BRANCH, "agent-inspector forks orders.db")
def forks(db: given.Database, json: given.AsJson = False) -> int:
    """Show the forks in a database as trees."""
    return _call("forking:forks", locals())


@_command(
    "compare",
    BRANCH,
    "agent-inspector compare orders.db --session s1 --session s2",
    "agent-inspector compare before.db after.db --session s1",
)
def compare(
    db: given.Database,
    db2: Annotated[
        str | None,
        typer.Argument(metavar="DB2", callback=given.text, show_default=False, help="The second session's database. Default: the same."),
    ] = None,
    app: given.Apps = None,
    user: given.Users = None,
    session: given.Sessions = None,
    json: given.AsJson = False,
) -> int:
    """Align two sessions' events and show where they differ; then the exit status is 1. Ids and times are ignored."""
    most = 2
    for name, values in (("app", app), ("user", user), ("session", session)):
        if len(values or ()) > most:
            raise UsageError(f"--{name} can be given at most twice: two sessions are compared.")
    if not db2 and len(session or ()) < most:
        raise UsageError("Give two sessions, or a second database with the same session id.")
    return _call("comparing:compare_sessions", locals())


@_command(
    "export",
    READ,
    "agent-inspector export sessions.db report.html --session s1",
    "agent-inspector export sessions.db everything.jsonl",
    "agent-inspector export sessions.db - --format md --session s1",
    "agent-inspector export sessions.db tool_calls.html --session s1 --where 'kind == \"tool call\"'",
    "agent-inspector export sessions.db orders.evalset.json --app orders",
)
def export(
    db: given.Database,
    out: Annotated[
        str, typer.Argument(metavar="OUT", callback=given.text, show_default=False, help="The new file; must not exist. - is the output.")
    ],
    app: given.App = None,
    user: given.User = None,
    session: Annotated[
        str | None,
        given.option(
            "--session", "S", "The session's id, or its beginning. Default: all sessions of the app and user.", propose=existing_sessions
        ),
    ] = None,
    where: Annotated[str | None, given.option("--where", "EXPR", "Only events that match this expression, as of `events`.")] = None,
    last: Annotated[str | None, given.option("--last", "N", "Only the last N events of each session.", given.count)] = None,
    format: Annotated[
        str | None,
        given.option(
            "--format",
            "NAME",
            "json, jsonl, md, html or evalset. Default: what the file's name says, or jsonl.",
            given.export_format,
            choices(*given.FORMATS),
        ),
    ] = None,
    secrets: Annotated[bool, typer.Option("--secrets", help="Keep what looks like a password, a key or a token.")] = False,
    json: given.AsJson = False,
) -> int:
    """Write sessions into a file for others: google-adk's JSON, JSON lines, Markdown, an eval set, or a page to attach to a bug report."""
    return _call("exchanging:export", locals())


@_command(
    "import",
    CHANGE,
    "agent-inspector import report.html sessions.db",
    "agent-inspector import adk-web-session.json sessions.db --user maria",
    "agent-inspector import other.db sessions.db --session s1",
)
def import_sessions(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            callback=given.text,
            show_default=False,
            help="What `export` or `adk web` wrote, or another session database. - is the input.",
        ),
    ],
    db: Annotated[
        str,
        typer.Argument(metavar="DB", callback=given.text, show_default=False, help="The session database; created if it does not exist."),
    ],
    app: Annotated[str | None, given.option("--app", "A", "The app's name, in place of the file's.")] = None,
    user: Annotated[str | None, given.option("--user", "U", "The user, in place of the file's.")] = None,
    session: Annotated[str | None, given.option("--session", "S", "Only the session with this id. Default: all of the file's.")] = None,
    json: given.AsJson = False,
) -> int:
    """Store the sessions of a file in a database, with their ids and times. Sessions that exist are not changed."""
    return _call("exchanging:import_sessions", locals())


@_command(
    "capsule",
    READ,
    "agent-inspector capsule orders.db bug.capsule --session s1",
    "agent-inspector capsule orders.db bug.capsule --session s1 --agent my_agent --pytest test_bug.py",
    "agent-inspector run bug.capsule",
)
def capsule(
    db: given.Database,
    out: Annotated[
        str,
        typer.Argument(metavar="OUT", callback=given.text, show_default=False, help="The new file, such as bug.capsule; must not exist."),
    ],
    app: given.App = None,
    user: given.User = None,
    session: given.Session = None,
    agent: Annotated[
        str | None, given.option("--agent", "AGENT", "The agent: the capsule gets its description, and what its models would be asked.")
    ] = None,
    pytest: Annotated[
        str | None, given.option("--pytest", "OUT.py", "Also write a test that fails when the agent no longer does this. Needs --agent.")
    ] = None,
    first: Annotated[str | None, given.event("--first", "Leave out the events before this one; the state before it is kept.")] = None,
    last: Annotated[str | None, given.event("--last", "Leave out the events after this one.")] = None,
    artifacts: given.Artifacts = None,
    yes: given.Yes = False,
    json: given.AsJson = False,
) -> int:
    """Put a session with its recorded requests and files into one file for another machine. Secrets are replaced."""
    if pytest is not None and agent is None:
        raise UsageError("--pytest needs --agent: the test runs it.")
    if not out.endswith(".capsule"):
        raise UsageError(f"Name the file {out}.capsule: by this ending, the window and the commands know it.")
    return _call("capsules:capsule", locals())


@_command("convert", CHANGE, "agent-inspector convert old.db new.db")
def convert(
    old: Annotated[
        str, typer.Argument(metavar="OLD", callback=given.text, show_default=False, help="The session database to read; it is not changed.")
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", callback=given.text, show_default=False, help="The new file; must not exist.")],
    drop_unreadable: Annotated[
        bool, typer.Option("--drop-unreadable", help="Convert damaged events too, without what cannot be read.", show_default=False)
    ] = False,
    credentials: Annotated[bool, typer.Option("--credentials", help="Also copy the credentials that people gave.")] = False,
    for_old_adk: Annotated[
        bool, typer.Option("--for-old-adk", help="Let google-adk 1.22 to 1.27 continue what 2 has written.", show_default=False)
    ] = False,
    json: given.AsJson = False,
) -> int:
    """Copy a database of any google-adk layout into a new file of the present layout."""
    return _call("converting:convert", locals())


@_command("recover", CHANGE, "agent-inspector recover damaged.db recovered.db")
def recover(
    db: Annotated[str, typer.Argument(metavar="DB", callback=given.text, show_default=False, help="The damaged file; it is not changed.")],
    new: Annotated[str, typer.Argument(metavar="NEW", callback=given.text, show_default=False, help="The new file; must not exist.")],
    json: given.AsJson = False,
) -> int:
    """Copy what is readable of a damaged database into a new file, and say what was lost."""
    return _call("recovering:recover", locals())


@_command("rewind", CHANGE, "agent-inspector rewind orders.db --session s1 --before e-4c1 --dry-run")
def rewind(
    db: given.Database,
    before: Annotated[str, given.invocation("--before", "The first invocation to take back.")],
    app: given.App = None,
    user: given.User = None,
    session: given.Session = None,
    dry_run: given.DryRun = False,
    in_place: given.InPlace = False,
    artifacts: given.Artifacts = None,
    json: given.AsJson = False,
) -> int:
    """Take back an invocation and all later ones: state and files are restored, nothing is deleted."""
    return _call("rewinding:rewind", locals())


@_command(
    "note",
    CHANGE,
    'agent-inspector note sessions.db 3f2a "the stock was read too early" --session s1',
    "agent-inspector note sessions.db 3f2a --bookmark",
    "agent-inspector note sessions.db 3f2a --delete",
)
def note(
    db: given.Database,
    event: Annotated[
        str,
        typer.Argument(
            metavar="EVENT", callback=given.text, show_default=False, help="The event's id, or its beginning.", autocompletion=events_of
        ),
    ],
    text: Annotated[str | None, typer.Argument(metavar="TEXT", show_default=False, help="The note, in place of an earlier one.")] = None,
    app: given.App = None,
    user: given.User = None,
    session: given.Session = None,
    bookmark: Annotated[bool | None, typer.Option("--bookmark/--no-bookmark", help="Bookmark the event, or remove its bookmark.")] = None,
    delete: Annotated[bool, typer.Option("--delete", help="Delete the note and the bookmark.")] = False,
    json: given.AsJson = False,
) -> int:
    """Write a note on an event, or bookmark it. A database of another program is not changed: its notes are kept in your data folder."""
    if delete and (text is not None or bookmark is not None):
        raise UsageError("--delete removes the note and the bookmark: give it alone.")
    if not delete and text is None and bookmark is None:
        raise UsageError("Give the note's text, --bookmark, --no-bookmark or --delete. `agent-inspector notes` lists what there is.")
    return _call("noting:note", locals())


@_command("delete", CHANGE, "agent-inspector delete orders.db --session s1 --session s2")
def delete(
    db: given.Database,
    session: given.Sessions,
    app: given.App = None,
    user: given.User = None,
    yes: given.Yes = False,
    dry_run: given.DryRun = False,
    in_place: given.InPlace = False,
    json: given.AsJson = False,
) -> int:
    """Delete sessions with their events. They are copied first; `undelete` restores them."""
    _check_deletion(yes, dry_run, json)
    return _call("deleting:delete", locals())


@_command("prune", CHANGE, "agent-inspector prune orders.db --days 30 --dry-run")
def prune(
    db: given.Database,
    days: Annotated[str, given.option("--days", "N", "Minimum days without a change.", given.count)],
    app: Annotated[str | None, given.option("--app", "A", "Only sessions of this app.")] = None,
    user: Annotated[str | None, given.option("--user", "U", "Only sessions of this user.")] = None,
    yes: given.Yes = False,
    dry_run: given.DryRun = False,
    in_place: given.InPlace = False,
    json: given.AsJson = False,
) -> int:
    """Delete the sessions that have not changed for some days. They are copied first; `undelete` restores them."""
    _check_deletion(yes, dry_run, json)
    return _call("deleting:prune", locals())


@_command("undelete", CHANGE, "agent-inspector undelete orders.db orders.db.deleted-20261121-113000-5f3a9c")
def undelete(
    db: given.Database,
    copy: Annotated[
        str,
        typer.Argument(metavar="COPY", callback=given.text, show_default=False, help="The copy whose name `delete` or `prune` printed."),
    ],
    json: given.AsJson = False,
) -> int:
    """Restore deleted sessions. Changes made to the database since then are kept."""
    return _call("deleting:undelete", locals())


@_command("api_server", SERVE, "agent-inspector api_server agents --port 8000")
def api_server(
    folder: Annotated[
        str,
        typer.Argument(metavar="FOLDER", callback=given.text, show_default=False, help="An agent's folder, or a folder of such folders."),
    ],
    port: Annotated[str, given.option("--port", "N", "0 takes any free port.", given.port)] = "8000",
    host: Annotated[str, given.option("--host", "H", "localhost, 127.0.0.1 or ::1.")] = "127.0.0.1",
    allow_origins: Annotated[
        list[str] | None,
        given.option("--allow_origins", "ORIGIN", "A page's origin that needs no token, or regex:PATTERN. Can be repeated.", given.texts),
    ] = None,
    session_service_uri: Annotated[
        str | None, given.option("--session_service_uri", "URI", "A database for all agents' sessions, or memory://.", given.text)
    ] = None,
    artifact_service_uri: Annotated[
        str | None, given.option("--artifact_service_uri", "URI", "file:///FOLDER for all agents' files, or memory://.", given.text)
    ] = None,
    reload_agents: Annotated[bool, typer.Option("--reload_agents", help="Load an agent again when its code has changed.")] = False,
    web: Annotated[
        str | None,
        given.option("--web", "DIR", "An environment with google-adk, whose page to serve. Default: the agents' own.", given.text),
    ] = None,
    json: given.AsJson = False,
) -> int:
    """Serve agents to programs on this machine, with the endpoints of google-adk's api_server and web."""
    return _call("serving:api_server", locals())


@app.command(
    "mcp",
    cls=InspectorCommand,
    rich_help_panel=SERVE,
    epilog=_examples(
        "agent-inspector mcp sessions.db",
        "agent-inspector mcp my_agent sessions.db --allow-runs",
        "claude mcp add inspector -- agent-inspector mcp sessions.db",
        more=(
            "Agents run only if their folder is trusted: open it once in the window. Nothing is trusted through the server.",
            "Runs are stored in a database of the server's own; the databases that it was started on are only read.",
        ),
    ),
)
def mcp(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            callback=given.texts,
            show_default=False,
            help="Session databases, and agents' folders. Default: any database that a question names.",
        ),
    ] = None,
    allow_runs: Annotated[bool, typer.Option("--allow-runs", help="Let the coding agent run trusted agents. Default: read only.")] = False,
) -> int:
    """Serve a coding agent over stdio (MCP): sessions, events, state, who wrote a key, requests, costs, comparisons, findings."""
    return _call("mcp_serving:mcp", {**locals(), "paths": paths or []})


@_command("attach", RUN, "agent-inspector attach", "agent-inspector attach my_app", "agent-inspector attach 4711")
def attach(
    app: Annotated[
        str | None,
        typer.Argument(metavar="NAME|PID", callback=given.text, show_default=False, help="The app's name or process. Default: list them."),
    ] = None,
    theme: Theme = None,
    size: Size = None,
    json: given.AsJson = False,
) -> int:
    """List the running apps that have the inspector plugin; watch, hold and step the named one in a window."""
    return _call("attaching:attach", locals())


@app.command(
    "doctor",
    cls=InspectorCommand,
    rich_help_panel=READ,
    epilog=_examples(
        "agent-inspector doctor sessions.db",
        "agent-inspector doctor sessions.db --session s1 --agent my_agent",
        "agent-inspector doctor my_agent --python ~/envs/agents",
        more=("Of a database, the exit status is 1 if there are errors, and 0 if there are none, or only warnings and notes.",),
    ),
)
def doctor(
    path: Annotated[
        str,
        typer.Argument(
            metavar="DB|AGENT",
            callback=given.text,
            show_default=False,
            help="A session database: a file, or an SQLAlchemy URL. Or an agent's folder or file.",
        ),
    ],
    agent: Annotated[
        str | None,
        given.option("--agent", "AGENT", "Load this agent, and find checkpoints of agents that no longer exist. Its code runs."),
    ] = None,
    app: given.App = None,
    user: given.User = None,
    session: Annotated[
        str | None, given.option("--session", "S", "Examine this session only: its id, or the beginning of it. Default: everything.")
    ] = None,
    engine: given.Engine = None,
    python: given.Python = None,
    json: given.AsJson = False,
) -> int:
    """Find what is wrong with a database: lost results, wrong order, unexplained state, rows that google-adk cannot read.

    With an agent in place of the database: say which Python and which engine run it, and why. Nothing of the agent runs then.
    """
    return _call("examining:doctor", locals())


def _help_topics(incomplete: str) -> list[str]:
    return choices(*app_command().commands, "where")(incomplete)


@_command("help", HELP, "agent-inspector help run", "agent-inspector help where")
def show_help(
    command: Annotated[
        str | None, typer.Argument(metavar="COMMAND", show_default=False, autocompletion=_help_topics, help="A command, or `where`.")
    ] = None,
) -> int:
    """Explain a command, or the language of `events --where`."""
    if command == "where":
        stdout.write(f"{importlib.import_module('runtime.expressions').__doc__}\n")
        return DONE
    if command is not None and command not in app_command().commands:
        near = get_close_matches(command, app_command().commands, 1)
        raise UsageError(f"There is no command {command}.{f' Did you mean {near[0]}?' if near else ''}")
    return _run([*([command] if command else []), "--help"])


@_command("version", HELP, "agent-inspector version")
def print_version() -> int:
    """Print the version."""
    try:
        number = importlib.import_module("importlib.metadata").version(PROGRAM)
    except ImportError:  # the package has no metadata
        number = "(not installed)"
    stdout.write(f"{PROGRAM} {number}\n")
    return DONE


@_command(
    "completion",
    HELP,
    "source <(agent-inspector completion bash)",
    "agent-inspector completion zsh > ~/.zfunc/_agent-inspector",
    "agent-inspector completion fish > ~/.config/fish/completions/agent-inspector.fish",
    "agent-inspector completion powershell >> $PROFILE",
)
def completion(
    shell: Annotated[
        str,
        typer.Argument(
            metavar="SHELL", show_default=False, autocompletion=choices(*given.SHELLS[:4]), help="bash, zsh, fish or powershell."
        ),
    ],
) -> int:
    """Print the script that completes commands, options, and a database's apps, users and ids in your shell."""
    return _call("shell_scripts:completion", locals())


def _exclude(*options: tuple[str, object]) -> None:
    (one, first), (other, second) = options
    if first is not None and second is not None:
        raise UsageError(f"{one} and {other} exclude each other.")


def _check_deletion(yes: bool, dry_run: bool, json: bool) -> None:
    _exclude(("--yes", yes or None), ("--dry-run", dry_run or None))
    if json and not (yes or dry_run):
        raise UsageError("--json cannot ask for confirmation: give --yes or --dry-run.")


def _call(command: str, options: dict[str, Any]) -> int:
    """Import a command's module and run the command."""
    module, _, function = command.partition(":")
    run_command: Callable[[Options], int] = getattr(importlib.import_module(f"inspector_app.commands.{module}"), function)
    return run_command(Options(**options))


def app_command(only: str | None = None) -> Any:
    """Return the commands as Typer's group.

    Args:
        only: the name of the one that will run, because building all of them takes as long as running one; None: all.
    """
    chosen = [command for command in app.registered_commands if command.name == only]
    if not chosen:
        return get_command(app)
    group = typer.Typer(cls=InspectorGroup, add_completion=False, rich_markup_mode="rich", context_settings=app.info.context_settings)
    group.registered_callback, group.registered_commands = app.registered_callback, chosen
    return get_command(group)


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
    running = bool(arguments) and arguments[0] in RUNNING
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
        return FAILED if running else DONE  # the reader has read enough, but a run that was cut off is not done
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
    is_command = bool(arguments) and any(command.name == arguments[0] for command in app.registered_commands)
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
    parser = group if is_command else get_command(window_app)
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

"""The options of commands that read a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from inspector_app.commands import parameters as given
from inspector_app.commands.completion import choices
from inspector_app.commands.completion import sessions as existing_sessions
from inspector_app.commands.options.base import READ, OfSession, Options, command, exclude
from inspector_app.commands.problems import UsageError
from inspector_app.presentation.tokens import OwnPrice

EXPRESSIONS = (
    "--where: comparisons of names with values, joined by and, or, not. `agent-inspector help where` explains all of it.",
    "Names: author, kind, text (what people and models wrote), error, call.NAME.args.X, response.NAME.X (tool results), delta.KEY,"
    " tokens.total, state, json (the whole event).",
)

_SORTED = "By newest, title, events, tokens, cost, duration, errors or waiting. Default: by app, user and id."


@command(
    "sessions",
    READ,
    "reading:sessions",
    "agent-inspector sessions sessions.db",
    "agent-inspector sessions sessions.db --sort cost --where 'cost > 0.05 and errors > 0'",
    "agent-inspector sessions postgresql://ana@localhost/agents --json",
    more=(
        "--where: comparisons of title, events, tokens, cost (US dollars), duration and age (seconds), errors (failed events) and waiting"
        " (items that wait for a person), joined by and, or, not.",
    ),
)
class Sessions(Options):
    """List the sessions of a database."""

    db: given.Database
    sort: Annotated[str | None, given.option("--sort", "ORDER", _SORTED, given.one_of("an order", given.SESSION_ORDERS))] = None
    where: Annotated[str | None, given.option("--where", "EXPR", "Only sessions that match this expression; see below.")] = None
    json: given.AsJson = False


@command(
    "events",
    READ,
    "reading:events",
    "agent-inspector events sessions.db --last 20",
    """agent-inspector events sessions.db --session s1 --where 'kind == "tool call" and tokens.total > 20000'""",
    more=EXPRESSIONS,
)
class Events(OfSession):
    """List a session's events in commit order."""

    where: Annotated[str | None, given.option("--where", "EXPR", "Only events that match this expression; see below.")] = None
    last: Annotated[int | None, given.option("--last", "N", "Only the last N events.", given.count)] = None
    limit: Annotated[int | None, given.option("--limit", "N", "At most N events.", given.count)] = None
    after: Annotated[str | None, given.event("--after", "Only events committed after this one.")] = None
    nested: Annotated[bool, typer.Option("--nested", help="Also the recorded events of agents that ran as tools, below their calls.")] = (
        False
    )
    json: given.AsJson = False

    def check(self) -> None:
        """Raise UsageError if the options contradict each other."""
        if self.last is not None and (self.limit is not None or self.after is not None):
            raise UsageError("--last counts from the end: give it without --limit and --after.")


@command(
    "state",
    READ,
    "reading:state",
    "agent-inspector state sessions.db --session s1 --at 3f2a",
    "agent-inspector state sessions.db --session s1 --writers user:plan",
)
class State(OfSession):
    """Show a session's state, at present or after one of its events."""

    at: Annotated[str | None, given.event("--at", "The state after this event. Default: the present state.")] = None
    writers: Annotated[
        str | None,
        given.option("--writers", "KEY", "Instead, list the writes of this key; of a user: or app: key also those of other sessions."),
    ] = None
    json: given.AsJson = False

    def check(self) -> None:
        """Raise UsageError if the options contradict each other."""
        exclude(("--at", self.at), ("--writers", self.writers))


@command(
    "notes",
    READ,
    "noting:notes",
    "agent-inspector notes sessions.db",
    """agent-inspector events sessions.db --session s1 --where 'bookmarked or note contains "stock"'""",
)
class Notes(OfSession):
    """List the comments and bookmarks that people left on events, of all sessions or of one."""

    json: given.AsJson = False


@command("invocations", READ, "reading:invocations", "agent-inspector invocations sessions.db --session s1")
class Invocations(OfSession):
    """List a session's invocations: their status and checkpoints."""

    json: given.AsJson = False


@command(
    "costs",
    READ,
    "costs:costs",
    "agent-inspector costs sessions.db",
    "agent-inspector costs sessions.db --session s1 --by tool --price my-model=0.30,2.50",
)
class Costs(OfSession):
    """Sum the tokens of model calls and what they cost."""

    by: Annotated[
        str | None,
        given.option(
            "--by",
            "WHAT",
            "session, agent, model, tool, invocation or call. Default: session, or agent if there is one session only.",
            given.one_of("a grouping", given.GROUPINGS),
            choices(*given.GROUPINGS),
        ),
    ] = None
    price: Annotated[
        Sequence[tuple[str, OwnPrice]],
        given.option(
            "--price",
            "MODEL=INPUT,OUTPUT",
            "Your price for a model in US dollars for a million tokens; a third number is for cached ones. Repeat it for each model.",
            given.prices,
        ),
    ] = ()
    model: Annotated[
        str | None, given.option("--model", "NAME", "The model of events that do not name theirs, if no recording is beside the database.")
    ] = None
    json: given.AsJson = False


@command(
    "export",
    READ,
    "exchanging:export",
    "agent-inspector export sessions.db report.html --session s1",
    "agent-inspector export sessions.db everything.jsonl",
    "agent-inspector export sessions.db - --format md --session s1",
    "agent-inspector export sessions.db tool_calls.html --session s1 --where 'kind == \"tool call\"'",
    "agent-inspector export sessions.db orders.evalset.json --app orders",
)
class Export(Options):
    """Write sessions into a file for others: google-adk's JSON, JSON lines, Markdown, an eval set, or a page to attach to a bug report."""

    db: given.Database
    out: Annotated[str, given.argument("OUT", "The new file; must not exist. - is the output.")]
    app: given.App = None
    user: given.User = None
    session: Annotated[
        str | None,
        given.option(
            "--session", "S", "The session's id, or its beginning. Default: all sessions of the app and user.", propose=existing_sessions
        ),
    ] = None
    where: Annotated[str | None, given.option("--where", "EXPR", "Only events that match this expression, as of `events`.")] = None
    last: Annotated[int | None, given.option("--last", "N", "Only the last N events of each session.", given.count)] = None
    format: Annotated[
        str | None,
        given.option(
            "--format",
            "NAME",
            "json, jsonl, md, html or evalset. Default: what the file's name says, or jsonl.",
            given.one_of("a format", given.FORMATS),
            choices(*given.FORMATS),
        ),
    ] = None
    secrets: Annotated[bool, typer.Option("--secrets", help="Keep what looks like a password, a key or a token.")] = False
    json: given.AsJson = False


@command(
    "capsule",
    READ,
    "capsules:capsule",
    "agent-inspector capsule orders.db bug.capsule --session s1",
    "agent-inspector capsule orders.db bug.capsule --session s1 --agent my_agent --pytest test_bug.py",
    "agent-inspector run bug.capsule",
)
class CapsuleOptions(OfSession):
    """Put a session with its recorded requests and files into one file for another machine. Secrets are replaced."""

    out: Annotated[str, given.argument("OUT", "The new file, such as bug.capsule; must not exist.")]
    agent: Annotated[
        str | None, given.option("--agent", "AGENT", "The agent: the capsule gets its description, and what its models would be asked.")
    ] = None
    pytest: Annotated[
        str | None,
        given.option(
            "--pytest",
            "OUT.py",
            "Also write a test that fails when the agent no longer does this; it is run once. Needs --agent.",
        ),
    ] = None
    first: Annotated[str | None, given.event("--first", "Leave out the events before this one; the state before it is kept.")] = None
    last: Annotated[str | None, given.event("--last", "Leave out the events after this one.")] = None
    artifacts: given.Artifacts = None
    yes: given.Yes = False
    json: given.AsJson = False

    def check(self) -> None:
        """Raise UsageError if the options contradict each other."""
        if self.pytest is not None and self.agent is None:
            raise UsageError("--pytest needs --agent: the test runs it.")
        if not self.out.endswith(".capsule"):
            raise UsageError(f"Name the file {self.out}.capsule: by this ending, the window and the commands know it.")


@command(
    "doctor",
    READ,
    "examining:doctor",
    "agent-inspector doctor sessions.db",
    "agent-inspector doctor sessions.db --session s1 --agent my_agent",
    "agent-inspector doctor my_agent --python ~/envs/agents",
    more=("Of a database, the exit status is 1 if there are errors, and 0 if there are none, or only warnings and notes.",),
)
class Doctor(Options):
    """Find what is wrong with a database: lost results, wrong order, unexplained state, rows that google-adk cannot read.

    With an agent in place of the database: say which Python and which engine run it, and why. Nothing of the agent runs then.
    """

    path: Annotated[str, given.argument("DB|AGENT", "A session database: a file, or an SQLAlchemy URL. Or an agent's folder or file.")]
    agent: Annotated[
        str | None, given.option("--agent", "AGENT", "Load this agent, and find checkpoints of agents that no longer exist. Its code runs.")
    ] = None
    app: given.App = None
    user: given.User = None
    session: Annotated[
        str | None, given.option("--session", "S", "Examine this session only: its id, or the beginning of it. Default: everything.")
    ] = None
    engine: given.Engine = None
    python: given.Python = None
    json: given.AsJson = False

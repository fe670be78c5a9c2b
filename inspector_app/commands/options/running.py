"""The options of commands that run an agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from inspector_app.commands import parameters as given
from inspector_app.commands.completion import sessions as existing_sessions
from inspector_app.commands.completion import users
from inspector_app.commands.options.base import RUN, Options, command
from inspector_app.commands.options.window import Size, Theme
from inspector_app.commands.problems import UsageError


@command(
    "run",
    RUN,
    "running:run",
    'agent-inspector run my_agent --message "40 boxes of paper" --db orders.db --session s1',
    'agent-inspector run my_agent --message hello --state \'{"user:plan": "gold"}\' --json',
    "agent-inspector run my_agent --message hello --state-from orders.db s1 3f2a",
)
class Run(Options):
    """Send an agent a message, or run a stored session again, and print the events as they are committed."""

    agent: given.Agent
    message: Annotated[str | None, given.option("--message", "TEXT", "The user's message.")] = None
    db: Annotated[
        str | None, given.option("--db", "DB", "Store the session here: a file or URL, created if missing. Default: in memory.")
    ] = None
    app: given.AgentApp = None
    user: Annotated[str, given.option("--user", "U", "The user.", propose=users)] = "user"
    session: Annotated[
        str | None, given.option("--session", "S", "Created if it does not exist. Default: a new session.", propose=existing_sessions)
    ] = None
    state: Annotated[dict[str, Any] | None, given.option("--state", "JSON", "Keys to set before the agent starts.", given.json_object)] = (
        None
    )
    state_from: Annotated[
        tuple[str, str, str] | None,
        typer.Option(
            "--state-from",
            metavar="DB SESSION EVENT",
            help="Set the keys that a stored session had after an event first: the database, the ids or their beginnings.",
        ),
    ] = None
    streaming: Annotated[bool, typer.Option("--streaming", help="Let the model stream; print its output as it arrives.")] = False
    repeat: Annotated[
        int | None,
        given.option("--repeat", "N", "Send the message N times, each in a new session, and compare what they did.", given.count),
    ] = None
    replay: Annotated[
        str | None,
        given.option("--replay", "DB", "Instead of a message, run a stored session of this database again, with the recorded answers."),
    ] = None
    replay_session: Annotated[
        str | None, given.option("--replay-session", "S", "With --replay: the stored session, or its id's beginning.")
    ] = None
    run_tools: Annotated[bool, typer.Option("--run-tools", help="With --replay: run the tools; only models are answered.")] = False
    go_on: Annotated[
        bool, typer.Option("--go-on", help="With --replay: where it is no longer as recorded, continue with the real model.")
    ] = False
    engine: given.Engine = None
    python: given.Python = None
    debugpy: given.DebugpyPort = None
    no_record: given.NoRecord = False
    trust: given.Trust = False
    json: given.AsJson = False

    def check(self) -> None:
        """Raise UsageError if the options contradict each other."""
        if (self.message is None) == (self.replay is None) and not (self.message is None and self.agent.endswith(".capsule")):
            raise UsageError("Give either --message or --replay.")
        if self.repeat is not None and (self.message is None or self.streaming or not self.repeat):
            raise UsageError("--repeat N needs --message and a number of 1 or more, and does not stream.")
        if self.replay is None and (self.replay_session is not None or self.run_tools or self.go_on):
            raise UsageError("--replay-session, --run-tools and --go-on belong to --replay: give it, too.")


@command(
    "eval",
    RUN,
    "evaluating:evaluate",
    "agent-inspector eval my_agent my_agent/orders.evalset.json",
    "agent-inspector eval my_agent tests/*.test.json --engine adk --json",
    "agent-inspector eval my_agent orders.evalset.json:case_1,case_2 --db results.db",
)
class Eval(Options):
    """Run eval sets on an agent and score its tool calls and responses as `adk eval` does; the exit status is 1 unless all pass."""

    agent: given.Agent
    eval_sets: Annotated[
        Sequence[str],
        given.argument("EVALSET", "google-adk's *.evalset.json or *.test.json; after a colon, only these cases.", given.texts),
    ]
    config: Annotated[
        str | None,
        given.option("--config", "FILE", "The criteria. Default: test_config.json beside the only eval set, or those of `adk eval`."),
    ] = None
    db: Annotated[
        str | None, given.option("--db", "DB", "Store the sessions here, and beside a failed one what was expected. Default: in memory.")
    ] = None
    app: given.AgentApp = None
    engine: given.Engine = None
    python: given.Python = None
    debugpy: given.DebugpyPort = None
    trust: given.Trust = False
    json: given.AsJson = False


@command(
    "resume",
    RUN,
    "running:resume",
    "agent-inspector resume my_agent --db orders.db",
    'agent-inspector resume my_agent --db orders.db --session s1 --response \'{"status": "approved"}\'',
)
class Resume(Options):
    """Resume an invocation that was interrupted or waits for an answer."""

    agent: given.Agent
    db: Annotated[str, given.option("--db", "DB", "The session's database: a file or URL.")]
    app: given.AgentApp = None
    user: given.User = None
    session: given.Session = None
    invocation: Annotated[str | None, given.invocation("--invocation", "Default: the newest one that is not finished.")] = None
    response: Annotated[
        dict[str, Any] | None,
        given.option("--response", "JSON", "The answer to the call that it waits for, a JSON object.", given.json_object),
    ] = None
    call: Annotated[str | None, given.option("--call", "ID", "The call to answer, if several wait.")] = None
    engine: given.Engine = None
    python: given.Python = None
    debugpy: given.DebugpyPort = None
    no_record: given.NoRecord = False
    trust: given.Trust = False
    json: given.AsJson = False

    def check(self) -> None:
        """Raise UsageError if the options contradict each other."""
        if self.call is not None and self.response is None:
            raise UsageError("--call names the call that --response answers: give both.")


@command("attach", RUN, "attaching:attach", "agent-inspector attach", "agent-inspector attach my_app", "agent-inspector attach 4711")
class Attach(Options):
    """List the running apps that have the inspector plugin; watch, hold and step the named one in a window."""

    app: Annotated[str | None, given.argument("NAME|PID", "The app's name or process. Default: list them.")] = None
    theme: Theme = None
    size: Size = None
    json: given.AsJson = False

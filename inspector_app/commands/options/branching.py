"""The options of commands that fork and compare."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from inspector_app.commands import parameters as given
from inspector_app.commands.options.base import BRANCH, OfSession, Options, command, exclude
from inspector_app.commands.problems import UsageError


@command(
    "fork",
    BRANCH,
    "forking:fork",
    "agent-inspector fork orders.db --session s1 --at 3f2a --new-session s2",
    "agent-inspector fork orders.db --session s1 --at 3f2a --agent my_agent --rerun --result '{\"in_stock\": 3}'",
)
class ForkOptions(OfSession):
    """Copy a session up to one of its events into a new session, and run an agent there if one is given."""

    at: Annotated[str | None, given.event("--at", "The last event to copy. Default: the session's last event.")] = None
    before: Annotated[str | None, given.invocation("--before", "Instead, copy everything before this invocation's message.")] = None
    into: Annotated[
        str | None, given.option("--into", "DB2", "The fork's database, created if missing. Default: the same, if it is ours.")
    ] = None
    new_session: Annotated[str | None, given.option("--new-session", "S2", "The fork's id. Default: a new one.")] = None
    artifacts: given.Artifacts = None
    credentials: given.Credentials = False
    agent: Annotated[str | None, given.option("--agent", "AGENT", "Run this agent in the fork.")] = None
    message: Annotated[str | None, given.option("--message", "TEXT", "Send it this message.")] = None
    rerun: Annotated[bool, typer.Option("--rerun", help="Repeat the event's invocation: as recorded up to --at, live from there on.")] = (
        False
    )
    answer: Annotated[str | None, given.option("--answer", "TEXT", "With --rerun: replaces the model's answer at --at.")] = None
    result: Annotated[
        dict[str, Any] | None, given.option("--result", "JSON", "With --rerun: replaces the tool's result at --at.", given.json_object)
    ] = None
    call: Annotated[str | None, given.option("--call", "ID", "The call that --result answers, if the event has several.")] = None
    engine: given.Engine = None
    python: given.Python = None
    debugpy: given.DebugpyPort = None
    json: given.AsJson = False

    def check(self) -> None:
        """Raise UsageError if the options contradict each other."""
        exclude(("--at", self.at), ("--before", self.before))
        exclude(("--message", self.message), ("--rerun", self.rerun or None))
        exclude(("--answer", self.answer), ("--result", self.result))
        if bool(self.agent) != (self.message is not None or self.rerun):
            raise UsageError("--agent needs --message or --rerun, and either of these needs --agent.")
        if (self.engine is not None or self.python is not None) and self.agent is None:
            raise UsageError("--engine and --python choose what runs the agent: give --agent, too.")
        if (self.answer is not None or self.result is not None) and not self.rerun:
            raise UsageError("--answer and --result change the recording: give --rerun, too.")
        if self.rerun and self.before is not None:
            raise UsageError("--rerun repeats an invocation up to an event: give --at, not --before.")
        if self.call is not None and self.result is None:
            raise UsageError("--call names the call that --result answers: give both.")


@command("forks", BRANCH, "forking:forks", "agent-inspector forks orders.db")
class Forks(Options):
    """Show the forks in a database as trees."""

    db: given.Database
    json: given.AsJson = False


@command(
    "compare",
    BRANCH,
    "comparing:compare_sessions",
    "agent-inspector compare orders.db --session s1 --session s2",
    "agent-inspector compare before.db after.db --session s1",
)
class Compare(Options):
    """Align two sessions' events and show where they differ; then the exit status is 1. Ids and times are ignored."""

    db: given.Database
    db2: Annotated[str | None, given.argument("DB2", "The second session's database. Default: the same.")] = None
    app: given.Apps = ()
    user: given.Users = ()
    session: given.Sessions = ()
    json: given.AsJson = False

    def check(self) -> None:
        """Raise UsageError if the options contradict each other."""
        most = 2
        for name, values in (("app", self.app), ("user", self.user), ("session", self.session)):
            if len(values or ()) > most:
                raise UsageError(f"--{name} can be given at most twice: two sessions are compared.")
        if not self.db2 and len(self.session or ()) < most:
            raise UsageError("Give two sessions, or a second database with the same session id.")

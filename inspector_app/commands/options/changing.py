"""The options of commands that change a database."""

from __future__ import annotations

from typing import Annotated

import typer

from inspector_app.commands import parameters as given
from inspector_app.commands.completion import events as events_of
from inspector_app.commands.completion import sessions as sessions_of
from inspector_app.commands.options.base import CHANGE, OfSession, Options, command, exclude
from inspector_app.commands.problems import UsageError


@command(
    "import",
    CHANGE,
    "exchanging:import_sessions",
    "agent-inspector import report.html sessions.db",
    "agent-inspector import adk-web-session.json sessions.db --user maria",
    "agent-inspector import other.db sessions.db --session s1",
)
class Import(Options):
    """Store the sessions of a file in a database, with their ids and times. Sessions that exist are not changed."""

    file: Annotated[str, given.argument("FILE", "What `export` or `adk web` wrote, or another session database. - is the input.")]
    db: Annotated[str, given.argument("DB", "The session database; created if it does not exist.")]
    app: Annotated[str | None, given.option("--app", "A", "The app's name, in place of the file's.")] = None
    user: Annotated[str | None, given.option("--user", "U", "The user, in place of the file's.")] = None
    session: Annotated[str | None, given.option("--session", "S", "Only the session with this id. Default: all of the file's.")] = None
    json: given.AsJson = False


@command("convert", CHANGE, "converting:convert", "agent-inspector convert old.db new.db")
class Convert(Options):
    """Copy a database of any google-adk layout into a new file of the present layout."""

    old: Annotated[str, given.argument("OLD", "The session database to read; it is not changed.")]
    new: given.NewFile
    drop_unreadable: Annotated[
        bool, typer.Option("--drop-unreadable", help="Convert damaged events too, without what cannot be read.", show_default=False)
    ] = False
    credentials: given.Credentials = False
    for_old_adk: Annotated[
        bool, typer.Option("--for-old-adk", help="Let google-adk 1.22 to 1.27 continue what 2 has written.", show_default=False)
    ] = False
    json: given.AsJson = False


@command("recover", CHANGE, "recovering:recover", "agent-inspector recover damaged.db recovered.db")
class Recover(Options):
    """Copy what is readable of a damaged database into a new file, and say what was lost."""

    db: Annotated[str, given.argument("DB", "The damaged file; it is not changed.")]
    new: given.NewFile
    json: given.AsJson = False


@command("rewind", CHANGE, "rewinding:rewind", "agent-inspector rewind orders.db --session s1 --before e-4c1 --dry-run")
class Rewind(OfSession):
    """Take back an invocation and all later ones: state and files are restored, nothing is deleted."""

    before: Annotated[str, given.invocation("--before", "The first invocation to take back.")]
    dry_run: given.DryRun = False
    in_place: given.InPlace = False
    artifacts: given.Artifacts = None
    json: given.AsJson = False


@command(
    "note",
    CHANGE,
    "noting:note",
    'agent-inspector note sessions.db 3f2a "the stock was read too early" --session s1',
    "agent-inspector note sessions.db 3f2a --bookmark",
    "agent-inspector note sessions.db 3f2a --delete",
)
class NoteOptions(OfSession):
    """Write a note on an event, or bookmark it. A database of another program is not changed: its notes are kept in your data folder."""

    event: Annotated[str, given.argument("EVENT", "The event's id, or its beginning.", propose=events_of)]
    text: Annotated[str | None, given.argument("TEXT", "The note, in place of an earlier one.", None)] = None
    bookmark: Annotated[bool | None, typer.Option("--bookmark/--no-bookmark", help="Bookmark the event, or remove its bookmark.")] = None
    delete: Annotated[bool, typer.Option("--delete", help="Delete the note and the bookmark.")] = False
    json: given.AsJson = False

    def check(self) -> None:
        """Raise UsageError if the options contradict each other."""
        if self.delete and (self.text is not None or self.bookmark is not None):
            raise UsageError("--delete removes the note and the bookmark: give it alone.")
        if not self.delete and self.text is None and self.bookmark is None:
            raise UsageError("Give the note's text, --bookmark, --no-bookmark or --delete. `agent-inspector notes` lists what there is.")


@command(
    "name",
    CHANGE,
    "noting:name",
    'agent-inspector name sessions.db 0b5ad3a2 "The trip that was booked twice"',
    'agent-inspector name sessions.db 0b5ad3a2 ""',
)
class Name(Options):
    """Name a session. A database of another program is not changed: its names are kept in your data folder."""

    db: given.Database
    session: Annotated[str, given.argument("SESSION", "The session's id, or its beginning.", propose=sessions_of)]
    text: Annotated[str, given.argument("TEXT", "The name. An empty one deletes it: the session is called by its first message.", None)]
    app: given.App = None
    user: given.User = None
    json: given.AsJson = False


class _Deletion(Options):
    """What deleting commands share."""

    yes: given.Yes = False
    dry_run: given.DryRun = False
    in_place: given.InPlace = False
    json: given.AsJson = False

    def check(self) -> None:
        """Raise UsageError if the options contradict each other."""
        exclude(("--yes", self.yes or None), ("--dry-run", self.dry_run or None))
        if self.json and not (self.yes or self.dry_run):
            raise UsageError("--json cannot ask for confirmation: give --yes or --dry-run.")


@command("delete", CHANGE, "deleting:delete", "agent-inspector delete orders.db --session s1 --session s2")
class Delete(_Deletion):
    """Delete sessions with their events. They are copied first; `undelete` restores them."""

    db: given.Database
    session: given.Sessions
    app: given.App = None
    user: given.User = None


@command("prune", CHANGE, "deleting:prune", "agent-inspector prune orders.db --days 30 --dry-run")
class Prune(_Deletion):
    """Delete the sessions that have not changed for some days. They are copied first; `undelete` restores them."""

    db: given.Database
    days: Annotated[int, given.option("--days", "N", "Minimum days without a change.", given.count)]
    app: Annotated[str | None, given.option("--app", "A", "Only sessions of this app.")] = None
    user: Annotated[str | None, given.option("--user", "U", "Only sessions of this user.")] = None


@command("undelete", CHANGE, "deleting:undelete", "agent-inspector undelete orders.db orders.db.deleted-20261121-113000-5f3a9c")
class Undelete(Options):
    """Restore deleted sessions. Changes made to the database since then are kept."""

    db: given.Database
    copy: Annotated[str, given.argument("COPY", "The copy whose name `delete` or `prune` printed.")]
    json: given.AsJson = False

"""The arguments and options that commands share, and the conversion of their values."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import typer

from inspector_app.commands import completion
from inspector_app.exchange.formats import FORMATS as EXPORT_FORMATS
from inspector_app.presentation.tokens import own_price

THEMES = ("light", "dark", "contrast", "system")
ENGINES = ("adk", "embedded", "embedded-process")
FORMATS = tuple(EXPORT_FORMATS)
SESSION_ORDERS = ("newest", "title", "events", "tokens", "cost", "duration", "errors", "waiting")
GROUPINGS = ("session", "agent", "model", "tool", "invocation", "call")
SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")


def text(value: str | None) -> str | None:
    """Return a text, which must not be empty."""
    if value == "":
        raise typer.BadParameter("it is empty. Give it a value.")
    return value


def texts(value: list[str] | None) -> list[str]:
    """Return the values of an option that can be repeated; none is empty."""
    return [each for each in value or [] if text(each)]


def count(value: str | None) -> int | None:
    """Return a whole number, not negative."""
    if value is None or isinstance(value, int):
        return value
    if not (value.isascii() and value.isdecimal()) or len(value) > 15:
        raise typer.BadParameter(f"{value!r} is not a whole number of 0 or more.")
    return int(value)


def port(value: str | None) -> int | None:
    """Return a port's number."""
    number = count(value)
    if number is not None and number > 65_535:
        raise typer.BadParameter(f"{number} is not a port. Ports are numbers from 0 to 65535; 0 takes a free one.")
    return number


def size(value: str | None) -> tuple[int, int] | None:
    """Return a window's width and height."""
    if value is None or isinstance(value, tuple):
        return value
    width, _, height = value.partition("x")
    if not (width.isdecimal() and height.isdecimal() and int(width) and int(height)):
        raise typer.BadParameter(f"{value!r} is not a size such as 1280x800.")
    return int(width), int(height)


def one_of(what: str, names: Sequence[str]) -> Callable[[str | None], str | None]:
    """Return the check of a value that is one of some names.

    Args:
        what: such as `a theme`.
        names: at least two.
    """

    def check(value: str | None) -> str | None:
        if value not in (None, *names):
            raise typer.BadParameter(f"{value!r} is not {what}: {', '.join(names[:-1])} or {names[-1]}.")
        return value

    return check


def json_object(value: str | None) -> dict[str, Any] | None:
    """Return a JSON object."""
    if value is None:
        return None
    try:
        found = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"this is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise typer.BadParameter('it must be a JSON object, such as {"key": "value"}.')
    return found


def prices(value: list[str] | None) -> list[tuple[str, Any]]:
    """Return models with their prices."""
    found: list[tuple[str, Any]] = []
    for each in value or []:
        if isinstance(each, tuple):
            found.append(each)
            continue
        model, _, numbers = each.rpartition("=")
        amounts = numbers.split(",")
        price = own_price(amounts[0], amounts[1], amounts[-1 if len(amounts) == 3 else 0]) if len(amounts) in (2, 3) else None
        if not model or price is None:
            raise typer.BadParameter(f"{each!r} is not a price such as my-model=0.30,2.50 (input and output, then cached if it differs).")
        found.append((model, price))
    return found


def option(name: str, metavar: str, help_text: str, convert: Any = text, propose: Any = None) -> Any:
    """Return an option with a value.

    Args:
        name: with its dashes.
        metavar: the name of the value in the help.
        help_text: one sentence.
        convert: checks and converts the value.
        propose: its completion; None: files.
    """
    return typer.Option(name, metavar=metavar, callback=convert, autocompletion=propose, help=help_text)


def argument(metavar: str, help_text: str, convert: Any = text, propose: Any = None) -> Any:
    """Return an argument; see `option`."""
    return typer.Argument(metavar=metavar, callback=convert, show_default=False, autocompletion=propose, help=help_text)


def event(name: str, help_text: str) -> Any:
    """Return an option that names an event by its id or the beginning of it."""
    return option(name, "EVENT_ID", help_text, propose=completion.events)


def invocation(name: str, help_text: str) -> Any:
    """Return an option that names an invocation by its id or the beginning of it."""
    return option(name, "INVOCATION", help_text, propose=completion.invocations)


Database = Annotated[str, argument("DB", "A session database: a file, or an SQLAlchemy URL.")]
NewFile = Annotated[str, argument("NEW", "The new file; must not exist.")]
NoRecord = Annotated[
    bool, typer.Option("--no-record", help="Do not record the model requests in the file beside the database, as DB.rec.db.")
]
App = Annotated[str | None, option("--app", "A", "The app's name. Needed if there is more than one.", propose=completion.apps)]
User = Annotated[str | None, option("--user", "U", 'Needed if there is more than one and none is "user".', propose=completion.users)]
Session = Annotated[
    str | None,
    option("--session", "S", "The session's id, or its beginning. Needed if there is more than one.", propose=completion.sessions),
]
Apps = Annotated[Sequence[str], option("--app", "A", "The app's name, once or for each session.", texts, completion.apps)]
Users = Annotated[Sequence[str], option("--user", "U", "The user, once or for each session.", texts, completion.users)]
Sessions = Annotated[
    Sequence[str],
    option("--session", "S", "A session's id, or its beginning. Repeat it for each session.", texts, completion.sessions),
]
Agent = Annotated[str, argument("AGENT", "A folder whose agent.py defines `app` or `root_agent`, or the file.")]
AgentApp = Annotated[
    str | None, option("--app", "A", "The sessions' app. Default: the App's or the folder's name.", propose=completion.apps)
]
Trust = Annotated[bool, typer.Option("--trust", hidden=True, help="Accepted without effect: this command trusts the agent it names.")]
Engine = Annotated[
    Literal["adk", "embedded", "embedded-process"] | None,
    option(
        "--engine",
        "NAME",
        "Run the agent on adk, embedded or embedded-process. Default: the google-adk of its environment, if there is one.",
        one_of("an engine", ENGINES),
        completion.choices(*ENGINES),
    ),
]
Python = Annotated[str | None, option("--python", "PATH", "The Python of the agent's environment, or the environment's folder.")]
DebugpyPort = Annotated[
    int | None,
    option(
        "--debugpy",
        "PORT",
        "Let VS Code or PyCharm attach to the agent's process at this port; 0 takes a free one. Its environment needs debugpy.",
        port,
    ),
]
Otlp = Annotated[
    str | None,
    option(
        "--otlp",
        "HOST:PORT or FILE",
        "Show the calls of OpenTelemetry traces: those sent to this address, such as 127.0.0.1:4318, or in this file of JSON lines.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
InPlace = Annotated[bool, typer.Option("--in-place", help="Write also into another program's database. A backup is made beside it.")]
Artifacts = Annotated[str | None, option("--artifacts", "DIR", "The folder with the session's files. Default: beside the database.")]
Credentials = Annotated[bool, typer.Option("--credentials", help="Also copy the credentials that people gave.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")]

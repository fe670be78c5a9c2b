"""The options of the window."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from inspector_app.commands import parameters as given
from inspector_app.commands.completion import choices
from inspector_app.commands.options.base import COMMANDS, Command, Options, closing
from inspector_app.commands.problems import UsageError

TrustWindow = Annotated[bool, typer.Option("--trust", help="Load the agent's code without asking.")]
Theme = Annotated[
    str | None,
    given.option(
        "--theme",
        "NAME",
        "light, dark, contrast or system. Default: the last one chosen.",
        given.one_of("a theme", given.THEMES),
        choices(*given.THEMES),
    ),
]
Size = Annotated[tuple[int, int] | None, given.option("--size", "WIDTHxHEIGHT", "Size of the window, such as 1280x800.", given.size)]
Screenshot = Annotated[
    str | None, given.option("--screenshot", "OUT.png", "Save a picture of the window and exit. Works without a display.")
]


class WindowOptions(Options):
    """The options that are listed in the program's help, too."""

    trust: TrustWindow = False
    theme: Theme = None
    size: Size = None
    screenshot: Screenshot = None
    engine: given.Engine = None
    python: given.Python = None
    debugpy: given.DebugpyPort = None
    otlp: given.Otlp = None


class Program(WindowOptions):
    """Debug AI agents. `agent-inspector PATH...` opens the window on an agent's folder, a session database, or both."""

    show_version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False


class Window(WindowOptions):
    """Open the window: watch agents live, stop them anywhere, inspect their state, resume crashed runs."""

    paths: Annotated[Sequence[str], given.argument("PATH", "An agent's folder or file, a session database, or both.", given.texts)] = ()

    def check(self) -> None:
        """Raise UsageError if the options contradict each other."""
        if self.screenshot is not None and self.otlp is not None and not Path(self.otlp).is_file():
            raise UsageError(f"No traces arrive while a picture is saved. With --screenshot, --otlp takes a file; {self.otlp} is none.")
        for path in self.paths:
            meant = get_close_matches(path, COMMANDS, 1, 0.75)
            if meant and not Path(path).exists():
                raise UsageError(f"{path} is not a file or folder; did you mean the command `{meant[0]}`?")


WINDOW = Command(
    "",
    "window:open_window",
    closing("agent-inspector my_agent sessions.db", "agent-inspector resources/samples/orders --screenshot orders.png --trust"),
    Window,
)

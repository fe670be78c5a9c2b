"""The options of commands that help."""

from __future__ import annotations

from typing import Annotated

from inspector_app.commands import parameters as given
from inspector_app.commands.completion import choices
from inspector_app.commands.options.base import COMMANDS, HELP, Options, command


def _help_topics(incomplete: str) -> list[str]:
    return choices(*COMMANDS, "where")(incomplete)


@command("help", HELP, "", "agent-inspector help run", "agent-inspector help where")
class Help(Options):
    """Explain a command, or the language of `events --where`."""

    command: Annotated[str | None, given.argument("COMMAND", "A command, or `where`.", None, _help_topics)] = None


@command("version", HELP, "", "agent-inspector version")
class Version(Options):
    """Print the version."""


@command(
    "completion",
    HELP,
    "shell_scripts:completion",
    "source <(agent-inspector completion bash)",
    "agent-inspector completion zsh > ~/.zfunc/_agent-inspector",
    "agent-inspector completion fish > ~/.config/fish/completions/agent-inspector.fish",
    "agent-inspector completion powershell >> $PROFILE",
)
class Completion(Options):
    """Print the script that completes commands, options, and a database's apps, users and ids in your shell."""

    shell: Annotated[str, given.argument("SHELL", "bash, zsh, fish or powershell.", None, choices(*given.SHELLS[:4]))]

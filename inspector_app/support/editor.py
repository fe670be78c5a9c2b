"""Opening a line of a file in the user's editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

SUFFIXES = (".py", ".pyi", ".yaml", ".yml", ".toml", ".json", ".md", ".txt")  # nothing that a desktop would run

_GOTO = ("code", "code-insiders", "codium", "cursor", "windsurf")
_LINE_OPTION = ("pycharm", "pycharm.sh", "charm", "idea", "webstorm")
_COLON = ("subl", "zed", "zeditor", "hx")
_PLUS = ("vi", "vim", "nvim", "gvim", "nano", "emacs", "emacsclient", "gedit", "micro", "joe", "kak")
_IN_TERMINAL = ("vi", "vim", "nvim", "nano", "hx", "micro", "joe", "kak")
_KNOWN = ("code", "code-insiders", "codium", "cursor", "windsurf", "pycharm", "charm", "zed", "subl", "kate", "gedit")
_OPENERS = ("xdg-open", "open")
_TERMINALS = ("x-terminal-emulator", "gnome-terminal", "konsole", "xterm")


class NoEditorError(Exception):
    """No editor can open the file; the message says why, and what to do."""


def editor_command(
    file: str,
    line: int,
    chosen: str = "",
    environ: Mapping[str, str] | None = None,
    which: Callable[[str], str | None] = shutil.which,
) -> list[str]:
    """Return the command that opens a file at a line.

    The first of these that exists: the chosen editor, `$VISUAL`, `$EDITOR`, an editor that is known, the desktop's own.

    Args:
        file: an absolute path.
        line: from 1.
        chosen: a command; `{file}` and `{line}` in it are replaced.
        environ: environment variables; None means this process's.
        which: finds a program.

    Raises:
        NoEditorError: there is none.
    """
    environ = os.environ if environ is None else environ
    for given in (chosen, environ.get("VISUAL", ""), environ.get("EDITOR", "")):
        command = _of_user(given, file, line, which)
        if command is not None:
            return command
        if given and given == chosen:
            raise NoEditorError(f"The editor {given} was not found. Choose another one with “Editor for code…”.")
    for name in (*_KNOWN, *_OPENERS):
        if (program := which(name)) is not None:
            return _at_line(program, [], file, line)
    raise NoEditorError("No editor was found. Choose one with “Editor for code…”, or set $VISUAL.")


def open_in_editor(file: str, line: int, chosen: str = "") -> subprocess.Popen[bytes]:
    """Start the user's editor with a file, and return its process at once.

    Raises:
        NoEditorError: the file is no text of an agent, or no editor can be started.
    """
    path = Path(file)
    if not path.is_absolute() or path.suffix not in SUFFIXES or not path.is_file():
        raise NoEditorError(f"{file} is not a file that can be opened.")
    command = editor_command(file, line, chosen)
    nothing = subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
    except OSError as error:
        raise NoEditorError(f"{command[0]} cannot be started: {error.strerror or error}.") from None
    threading.Thread(target=process.wait, name="editor", daemon=True).start()  # it may stay open for hours
    return process


def _of_user(given: str, file: str, line: int, which: Callable[[str], str | None]) -> list[str] | None:
    try:
        words = shlex.split(given)
    except ValueError:  # a quotation mark without its partner
        words = []
    program = which(words[0]) if words else None
    if program is None:
        return None
    if "{file}" in given:
        return [program, *(word.replace("{file}", file).replace("{line}", str(line)) for word in words[1:])]
    if Path(program).name in _IN_TERMINAL and sys.platform != "win32":
        terminal = next((found for name in _TERMINALS if (found := which(name)) is not None), None)
        if terminal is None:
            return None
        separator = "--" if Path(terminal).name == "gnome-terminal" else "-e"
        return [terminal, separator, *_at_line(program, words[1:], file, line)]
    return _at_line(program, words[1:], file, line)


def _at_line(program: str, options: list[str], file: str, line: int) -> list[str]:
    name = Path(program).name.removesuffix(".exe").removesuffix(".cmd")
    if name in _GOTO:
        return [program, *options, "--goto", f"{file}:{line}"]
    if name in _LINE_OPTION:
        return [program, *options, "--line", str(line), file]
    if name in _COLON:
        return [program, *options, f"{file}:{line}"]
    if name == "kate":
        return [program, *options, "--line", str(line), file]
    if name in _PLUS:
        return [program, *options, f"+{line}", file]
    return [program, *options, file]

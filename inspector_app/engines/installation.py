"""Installation of google-adk, with what an agent's folder requires, into the agent's own environment. No Qt.

A new environment has the file `MADE` until it is complete. An existing one is first copied, by hard links: installers replace files, and
do not write into them. So an installation that fails, is cancelled or is killed can be undone; see `environments.is_unfinished`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from inspector_app.engines.environments import MADE, Decision, Environment, beside, environment_at, is_unfinished, settings_of, text_of
from runtime.errors import KnownError

PACKAGES = ("google-adk", "sqlalchemy[asyncio]<3")  # google-adk 2 stores sessions with the second, and does not require it
OLDEST_PYTHON = ">=3.10"  # of google-adk
TAIL_LINES = 40  # last lines of an installer, which tell why it failed

# What pip and uv print: names of exceptions, and uv's chain of causes.
_UNREACHABLE = re.compile(r"(?:NewConnection|NameResolution|ConnectTimeout|ReadTimeout|Proxy|SSL)Error|dns error|error sending request")
_OTHER_PYTHON = re.compile(r"requires? a different [Pp]ython|does not satisfy Python")


class InstallError(KnownError):
    """google-adk cannot be installed, or was not; the message says why, and what is left."""


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """What an installation would do.

    Attributes:
        folder: where its commands run: the folder with the requirements, or the agent's.
        prefix: the environment.
        changes: whether the environment exists, and is changed.
        commands: undo an interrupted installation, if there was one, and install.
        required: the file with the agent's requirements; None if there is none.
        text: its name, and what is in it.
    """

    folder: Path
    prefix: Path
    changes: bool
    commands: tuple[tuple[str, ...], ...]
    required: Path | None
    text: str

    @property
    def sentence(self) -> str:
        """What the commands do."""
        packages = "google-adk" + (f" and what {self.required} names" if self.required else "")
        if self.changes:
            return f"{self.prefix} exists, without google-adk. This installs {packages} into it, and may change other packages there."
        again = ", in place of one that is unfinished," if is_unfinished(self.prefix) else ""
        return f"This makes the environment {self.prefix}{again} and installs {packages} into it."

    def lines(self) -> list[str]:
        """Return the commands as a shell takes them."""
        return [shlex.join(command) for command in (("cd", str(self.folder)), *self.commands)]


def plan_installation(decision: Decision) -> InstallPlan:
    """Plan how an agent gets google-adk: in its own environment, otherwise in a new `.venv` beside its requirements. Nothing is run.

    Args:
        decision: the environments of the agent, none of which has google-adk.

    Raises:
        InstallError: it cannot be installed there.
    """
    if sys.platform == "win32":
        raise InstallError("On Windows, agents run on the embedded runtime only. For google-adk, use Agent Inspector in WSL.")
    folder = decision.agent if decision.agent.is_dir() else decision.agent.parent
    places = (place / name for place in (folder, folder.parent) for name in ("requirements.txt", "pyproject.toml"))
    required = next((place for place in places if place.is_file()), None)
    home = required.parent if required is not None else folder
    project = settings_of(home / "pyproject.toml", "project") if required is not None else {}
    needs = str(project.get("requires-python") or OLDEST_PYTHON)
    own = _own_environment(decision, folder)
    prefix = own.prefix.resolve() if own is not None else home / ".venv"
    changes = own is not None and not (prefix / MADE).exists()
    if not changes and os.path.lexists(prefix) and not (prefix / MADE).exists():
        raise InstallError(f"{prefix} exists, and has no Python. Move it away, and google-adk can be installed into a new one.")
    if own is not None and changes and own.python_version and not _suits(own.python_version, needs):
        raise InstallError(f"{prefix} has Python {own.python_version}, and {needs} is needed. Move it away, and a new one can be made.")
    uv, python = shutil.which("uv"), str(own.python if own is not None and changes else prefix / "bin" / "python")
    installer = (uv, "pip", "install", "--python", python) if uv else (python, "-m", "pip", "install")
    install = (*installer, *PACKAGES, *(_requirements(required) if required is not None else ()))
    made = () if changes else (_making(uv, str(prefix), needs),)
    return InstallPlan(
        home, prefix, changes, (*_undoing(prefix), *made, install), required, f"{required.name}:\n{text_of(required)}" if required else ""
    )


class Installation:
    """One run of an `InstallPlan`.

    Args:
        plan: what to do.
        on_line: called with each line for the user, on the thread that runs it.
    """

    def __init__(self, plan: InstallPlan, on_line: Callable[[str], None]) -> None:
        self._plan = plan
        self._on_line = on_line
        self._is_cancelled = False
        self._ended = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)

    def run(self) -> Environment:
        """Install, which takes up to minutes, and return the environment.

        Raises:
            InstallError: it failed or was cancelled. A new environment is deleted, and one that existed is as it was.
        """
        prefix = self._plan.prefix
        try:
            with _undone_on_failure(self._plan) as lock, tempfile.TemporaryDirectory(prefix="agent-inspector-") as temporary:
                for command in self._plan.commands:
                    if command[0] not in ("rm", "mv"):  # these were done with the lock
                        self._execute(command, lock, temporary)
                made = environment_at(prefix)
                if made is None or made.adk_version is None:
                    raise InstallError(f"The installer has ended, and {prefix} has no google-adk. {self._left}")
                return made
        except OSError as error:
            raise InstallError(f"google-adk was not installed: {error.strerror or error} ({error.filename or prefix}).") from error
        finally:
            self._ended.set()

    def cancel(self) -> None:
        """Kill the installer, and wait until what it did is undone."""
        self._is_cancelled = True
        self._kill()
        self._ended.wait()

    def _kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _execute(self, command: tuple[str, ...], lock: int, temporary: str) -> None:
        variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV")}
        variables |= {"PYTHONUNBUFFERED": "1", "PIP_NO_INPUT": "1", "GIT_TERMINAL_PROMPT": "0", "TMPDIR": temporary}
        self._on_line(f"$ {shlex.join(command)}")
        self._process = process = subprocess.Popen(
            command,
            cwd=self._plan.folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(lock,),  # an installer that survives this process holds it
        )
        if self._is_cancelled:  # before there was a process
            self._kill()
        assert process.stdout is not None
        with process.stdout:
            for data in process.stdout:
                self._tail.append(data.decode("utf-8", "replace").rstrip())
                self._on_line(self._tail[-1])
        status = process.wait()
        if self._is_cancelled:
            raise InstallError(f"The installation was cancelled. {self._left}")
        if status:
            raise InstallError(f"{self._reason(status)} {self._left}")

    @property
    def _left(self) -> str:
        return f"{self._plan.prefix} is as it was before." if self._plan.changes else "Nothing was left behind."

    def _reason(self, status: int) -> str:
        printed = "\n".join(self._tail)
        if _UNREACHABLE.search(printed):
            return "The package index could not be reached. Check the network, and the proxy and index in the settings of pip or uv."
        if _OTHER_PYTHON.search(printed):
            return "A package needs another Python: see the last lines. Install that Python, make the environment with it, and try again."
        last = next((line for line in reversed(self._tail) if line.lower().startswith("error")), ("", *self._tail)[-1])
        return f"The installer failed with exit status {status}: {last.removesuffix('.')}."


@contextmanager
def _undone_on_failure(plan: InstallPlan) -> Iterator[int]:
    """Prepare an environment, and undo all if the body fails. Yields the descriptor of a lock."""
    prefix = plan.prefix
    with _locked(prefix.parent) as lock:
        _undo(prefix)
        try:
            if plan.changes:
                shutil.copytree(prefix, beside(prefix, "part"), symlinks=True, copy_function=_link)
                beside(prefix, "part").rename(beside(prefix, "before"))
            else:
                prefix.mkdir()
                (prefix / MADE).touch()
            yield lock
        except BaseException:
            _undo(prefix)
            raise
        if plan.changes:
            beside(prefix, "before").rename(beside(prefix, "part"))  # half of it must not be taken for the whole
            _remove(beside(prefix, "part"))
        (prefix / MADE).unlink(missing_ok=True)


@contextmanager
def _locked(folder: Path) -> Iterator[int]:
    """Lock a folder against other installations, also those whose window was killed."""
    import fcntl  # not on Windows

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InstallError(f"google-adk is being installed in {folder} already. Try again when that has ended.") from None
        yield descriptor
    finally:
        os.close(descriptor)


def _undo(prefix: Path) -> None:
    """Undo an unfinished installation. If this is interrupted, the next call does the rest."""
    part, before = beside(prefix, "part"), beside(prefix, "before")
    _remove(part)
    if is_unfinished(prefix):
        if prefix.exists():
            prefix.rename(part)
        if before.exists():
            before.rename(prefix)
        _remove(part)


def _remove(folder: Path) -> None:
    """Remove a folder, also if this process ends meanwhile: an environment has thousands of files."""
    if folder.exists():
        subprocess.run(("rm", "-rf", str(folder)), stdin=subprocess.DEVNULL, start_new_session=True, check=False)


def _undoing(prefix: Path) -> tuple[tuple[str, ...], ...]:
    """Return what `_undo` does, as commands."""
    before = beside(prefix, "before")
    commands = ("rm", "-rf", str(prefix)), ("mv", str(before), str(prefix))
    return commands[: 1 + before.exists()] if is_unfinished(prefix) else ()


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links, or another user's file
        shutil.copy2(source, target)


def _own_environment(decision: Decision, folder: Path) -> Environment | None:
    """Return the agent's environment: not one that is merely active, nor the one that runs the inspector."""
    for step in decision.steps:
        found = step.environment
        if found is None or (step.source not in (".venv", "venv", "uv", "Poetry", "PDM") and found.prefix.parent != folder):
            continue
        if found.prefix.resolve() != Path(sys.prefix).resolve():
            return found
        if found.prefix.parent == folder:
            raise InstallError(f"{found.prefix} runs Agent Inspector itself. Close it, and install google-adk there with pip.")
    return None


def _requirements(file: Path) -> tuple[str, ...]:
    if file.suffix == ".txt":
        return ("-r", file.name)
    project = settings_of(file, "project")
    if "dependencies" in str(project.get("dynamic")) or (not project and settings_of(file, "tool", "poetry")):
        return ("-e", ".")  # only its build system knows them
    named = project.get("dependencies", [])
    if not isinstance(named, list) or not all(isinstance(one, str) and one[:1].isalnum() for one in named):  # no option of pip
        raise InstallError(f"The dependencies in {file} are not requirements. Correct them, or install google-adk yourself.")
    return tuple(named)


def _making(uv: str | None, prefix: str, needs: str) -> tuple[str, ...]:
    """Return the command that makes an environment in an empty folder."""
    python, version = str(getattr(sys, "_base_executable", "") or sys.executable), f"{sys.version_info[0]}.{sys.version_info[1]}"
    if uv:
        return uv, "venv", "--allow-existing", "--python", python if _suits(version, needs) else needs, prefix
    if not _suits(version, needs):
        raise InstallError(f"The agent needs Python {needs}, and this is {version}. Install uv, which brings it, or make {prefix} with it.")
    return python, "-m", "venv", prefix


def _suits(version: str, needs: str) -> bool:
    """Return whether a Python fits the bounds of `requires-python` by its first two numbers; pip and uv check all of it."""
    mine = tuple(map(int, re.findall(r"\d+", version)[:2]))
    bounds = re.findall(r"(>=|~=|<)\s*(\d+(?:\.\d+)?)", needs)
    return all((mine < tuple(map(int, bound.split(".")))) == (operator == "<") for operator, bound in bounds)

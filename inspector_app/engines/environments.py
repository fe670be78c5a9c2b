"""The search for the Python environment that an agent belongs to. It reads files only and starts no process.

The candidates, in order: a given Python, the active environment, `.venv` and `venv` in the agent's folder or above it, the environments
that uv, Poetry and PDM use there, and the Python that runs the inspector. The first one that has google-adk is chosen; a given Python is
chosen in any case. Which google-adk it has is read from the metadata that pip and others leave beside the packages.
"""

from __future__ import annotations

import base64
import hashlib
import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector_app.engines.env_file import AgentEnvironment, EnvFileError, sentence_of
from runtime.errors import KnownError
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    import tomllib
else:
    tomllib = lazy_module("tomllib")

MAX_TEXT = 1_000_000  # bytes; no settings file that is read here is larger
MADE = "agent-inspector-unfinished"  # a file in an environment that an installation has begun to make


class EnvironmentNotFoundError(KnownError):
    """The given Python does not exist or cannot be run; the message says why."""


@dataclass(frozen=True, slots=True)
class Environment:
    """A Python with its packages.

    Attributes:
        python: the interpreter, as it is started.
        prefix: the folder of its packages.
        python_version: such as `3.12.1`; empty if it cannot be read without running it.
        adk_version: the version of its google-adk; None if it has none.
    """

    python: Path
    prefix: Path
    python_version: str
    adk_version: str | None

    def __str__(self) -> str:
        version = f"Python {self.python_version}" if self.python_version else "Python"
        return f"{version} with {f'google-adk {self.adk_version}' if self.adk_version else 'no google-adk'} ({self.python})"


@dataclass(frozen=True, slots=True)
class Step:
    """One place that was searched.

    Attributes:
        source: where the place comes from, such as `VIRTUAL_ENV` or `.venv`.
        found: a phrase that says what is there.
        environment: the environment there, if any.
    """

    source: str
    found: str
    environment: Environment | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """Which environment runs an agent, and why.

    Attributes:
        agent: the agent's folder or file.
        environment: the chosen environment.
        source: the step that led to it.
        steps: all places that were searched, in order.
        env_file: the `.env` that google-adk reads for this agent, if any.
        env_names: the names that it sets; values are not kept.
    """

    agent: Path
    environment: Environment
    source: str
    steps: tuple[Step, ...]
    env_file: Path | None
    env_names: tuple[str, ...]

    @property
    def has_adk(self) -> bool:
        """Whether the agent can run on the google-adk of its own environment."""
        return self.environment.adk_version is not None

    def lines(self, chosen: str) -> list[str]:
        """Return the decision as lines for the user: each place, the choice, the names that `.env` sets.

        Args:
            chosen: the choice and its reason, as a sentence.
        """
        lines = [*(f"{step.source}: {step.found}" for step in self.steps), chosen]
        if self.env_file is not None:
            lines.append(sentence_of(self.env_file, self.env_names))
        return lines


def find_environment(agent: str | Path, *, python: str | None = None, environ: Mapping[str, str] | None = None) -> Decision:
    """Find the environment of an agent.

    Args:
        agent: the agent's folder or file.
        python: the Python, or the folder of its environment, that the user has named.

    Raises:
        EnvironmentNotFoundError: `python` names no Python.
    """
    environ = os.environ if environ is None else environ
    agent = Path(agent).expanduser().absolute()
    folder = agent if agent.is_dir() else agent.parent
    env_file, names = _env_names(folder)
    if python is not None:
        given = _named(python)
        return Decision(agent, given, "--python", (Step("--python", str(given), given),), env_file, names)
    steps: list[Step] = []
    seen: set[Path] = set()
    for source, prefix in _candidates(folder, environ):
        if prefix not in seen:
            seen.add(prefix)
            steps.append(_look_at(source, prefix))
    own = own_environment()
    steps.append(Step("the inspector's own Python", str(own), own))
    chosen = next((step for step in steps if step.environment is not None and step.environment.adk_version), steps[-1])
    return Decision(agent, chosen.environment or own, chosen.source, tuple(steps), env_file, names)


def own_environment() -> Environment:
    """Return the environment of this process."""
    sites = [Path(entry) for entry in sys.path if entry]
    return Environment(Path(sys.executable), Path(sys.prefix), platform.python_version(), _adk_version(sites))


def _env_names(folder: Path) -> tuple[Path | None, tuple[str, ...]]:
    environment = AgentEnvironment(folder)
    try:
        return environment.file, tuple(environment.names)
    except EnvFileError:  # reported when the agent is loaded
        return environment.file, ()


def beside(prefix: Path, what: str) -> Path:
    """Return a place beside an environment that belongs to the installation of google-adk into it."""
    return prefix.with_name(f"{prefix.name}.{what}-agent-inspector")


def is_unfinished(prefix: Path) -> bool:
    """Return whether an installation into an environment has begun and not ended; see `installation.py`."""
    return (prefix / MADE).exists() or beside(prefix.resolve(), "before").exists()


def environment_at(prefix: Path) -> Environment | None:
    """Return the environment in a folder; None if there is no Python."""
    python = next((found for found in _pythons(prefix) if os.access(found, os.X_OK) and found.is_file()), None)
    return _environment(python, prefix) if python is not None else None


def _named(python: str) -> Environment:
    path = Path(python).expanduser().absolute()
    if path.is_dir():
        found = environment_at(path)
        if found is None:
            raise EnvironmentNotFoundError(f"There is no Python in {python}. Name an interpreter, or the folder of an environment.")
        return found
    if not path.is_file():
        raise EnvironmentNotFoundError(f"There is no Python at {python}.")
    if not os.access(path, os.X_OK):
        raise EnvironmentNotFoundError(f"{python} cannot be run: it is not executable.")
    if (path.parent.parent / "pyvenv.cfg").is_file():
        return _environment(path, path.parent.parent)
    return _environment(path, path.resolve().parent.parent)


def _candidates(folder: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Yield places where an environment may be, with their names."""
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if environ.get(name):
            yield name, Path(environ[name]).expanduser()
    for name in (".venv", "venv"):
        yield from ((name, found) for found in _upwards(folder, name, Path.is_dir))
    yield from _uv(folder, environ)
    yield from _poetry(folder, environ)
    yield from _pdm(folder)


def _uv(folder: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    given = environ.get("UV_PROJECT_ENVIRONMENT")
    lock = next(_upwards(folder, "uv.lock", Path.is_file), None)
    if given and lock is not None:
        yield "uv", lock.parent / given


def _poetry(folder: Path, environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Yield Poetry's environments of the project: they are named after the project and a hash of its folder."""
    for file in _upwards(folder, "pyproject.toml", Path.is_file):
        settings = _toml(file)
        project = _table(settings, "tool", "poetry").get("name") or _table(settings, "project").get("name")
        is_poetry = bool(_table(settings, "tool", "poetry")) or (file.parent / "poetry.lock").is_file()
        if not is_poetry or not isinstance(project, str):
            continue
        name = re.sub(r'[ $`!*@"\\\r\n\t]', "_", project.lower())[:42]
        digest = hashlib.sha256(os.fsencode(os.path.normcase(file.parent.resolve()))).digest()
        stem = f"{name}-{base64.urlsafe_b64encode(digest).decode()[:8]}"
        home = _poetry_home(environ)
        minor = _table(_toml(home / "envs.toml"), stem).get("minor")
        if isinstance(minor, str):
            yield "Poetry", home / f"{stem}-py{minor}"
        yield from (("Poetry", found) for found in sorted(home.glob(f"{stem}-py3*"), reverse=True))


def _poetry_home(environ: Mapping[str, str]) -> Path:
    if environ.get("POETRY_VIRTUALENVS_PATH"):
        return Path(environ["POETRY_VIRTUALENVS_PATH"]).expanduser()
    if environ.get("POETRY_CACHE_DIR"):
        return Path(environ["POETRY_CACHE_DIR"]).expanduser() / "virtualenvs"
    home = Path(environ.get("HOME") or Path.home())
    if sys.platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "pypoetry" / "Cache" / "virtualenvs"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "pypoetry" / "virtualenvs"
    return Path(environ.get("XDG_CACHE_HOME") or home / ".cache") / "pypoetry" / "virtualenvs"


def _pdm(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the environment whose Python PDM has recorded for the project."""
    for file in _upwards(folder, ".pdm-python", Path.is_file):
        python = text_of(file).strip()
        if python:
            yield "PDM", Path(python).parent.parent


def _look_at(source: str, prefix: Path) -> Step:
    if not prefix.is_dir():
        return Step(source, f"{prefix} does not exist.")
    if is_unfinished(prefix):
        before = beside(prefix.resolve(), "before")
        place = before if before.exists() else prefix
        environment = environment_at(place)
        if environment is not None:
            python = prefix / environment.python.relative_to(place)
            environment = replace(environment, python=python, prefix=prefix, adk_version=None)
        return Step(source, f"{prefix} is unfinished: google-adk is being installed, or that was interrupted.", environment)
    environment = environment_at(prefix)
    return Step(source, f"{prefix} has no Python." if environment is None else str(environment), environment)


def _upwards(folder: Path, name: str, test: Any) -> Iterator[Path]:
    """Yield the entries of this name in a folder and the folders above it, the nearest first."""
    for place in (folder, *folder.parents):
        try:
            if test(place / name):
                yield place / name
        except OSError:  # a folder that may not be read
            continue


def _pythons(prefix: Path) -> Iterator[Path]:
    for name in ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe"):
        yield prefix / name


def _environment(python: Path, prefix: Path) -> Environment:
    settings = _pyvenv(prefix)
    version = settings.get("version") or settings.get("version_info") or ""
    version = ".".join(version.split(".")[:3])
    minor = ".".join(version.split(".")[:2])
    if not minor:
        named = re.search(r"python(3\.\d+)(?:\.exe)?$", python.resolve().name)
        minor = named[1] if named else ""
    sites = list(_sites(prefix, minor))
    if settings.get("include-system-site-packages", "").lower() == "true" and settings.get("home"):
        sites += _sites(Path(settings["home"]).parent, minor)
    if not settings and minor:
        sites.append(Path.home() / ".local" / "lib" / f"python{minor}" / "site-packages")
    return Environment(python, prefix, version or minor, _adk_version(sites))


def _sites(prefix: Path, minor: str) -> Iterator[Path]:
    """Yield the folders of packages below a prefix.

    Args:
        prefix: the prefix.
        minor: such as `3.12`; empty if it is not known.
    """
    for library in ("lib", "lib64", "local/lib"):
        for kind in ("site-packages", "dist-packages"):
            yield from sorted((prefix / library).glob(f"python{minor or '3.*'}/{kind}"))
            if (prefix / library / "python3" / kind).is_dir():
                yield prefix / library / "python3" / kind
    if (prefix / "Lib" / "site-packages").is_dir():
        yield prefix / "Lib" / "site-packages"


def _adk_version(sites: list[Path]) -> str | None:
    """Return the version of google-adk in the first folder that has it."""
    for site in sites:
        found = [entry for pattern in ("google_adk-*.dist-info", "google-adk-*.dist-info") for entry in _glob(site, pattern)]
        if found:
            newest = max(found, key=lambda entry: [int(part) for part in re.findall(r"\d+", entry.name)])
            stated = re.search(r"^Version:[ \t]*(\S+)", text_of(newest / "METADATA"), re.MULTILINE)
            return stated[1] if stated else newest.name.removesuffix(".dist-info").split("-")[-1]
    return None


def _glob(folder: Path, pattern: str) -> list[Path]:
    try:
        return list(folder.glob(pattern))
    except OSError:
        return []


def _pyvenv(prefix: Path) -> dict[str, str]:
    pairs = (line.partition("=") for line in text_of(prefix / "pyvenv.cfg").splitlines())
    return {key.strip().lower(): value.strip() for key, equals, value in pairs if equals}


def text_of(file: Path) -> str:
    """Return a settings file's text; empty if it cannot be read or is no regular file."""
    try:
        if not file.is_file():
            return ""
        with file.open("rb") as stream:
            return stream.read(MAX_TEXT).decode("utf-8", "replace").removeprefix("\ufeff")
    except OSError:
        return ""


def _toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text_of(file))
    except tomllib.TOMLDecodeError:
        return {}


def settings_of(file: Path, *names: str) -> Mapping[str, Any]:
    """Return a table of a TOML file; empty if it is not there."""
    return _table(_toml(file), *names)


def _table(settings: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    found: Any = settings
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def child_variables(environment: Environment, agent: Path | None = None) -> dict[str, str]:
    """Return the environment variables for a process of an environment, as if it were activated. May wait for the system's keyring.

    Args:
        environment: the environment.
        environ: environment variables; None means this process's.
        agent: the agent's folder or file; it gets the keys of the keyring. None: none.
    """
    variables = dict(os.environ)
    if agent is not None:
        variables = AgentEnvironment(agent if agent.is_dir() else agent.parent).keys() | variables
    for name in ("PYTHONHOME", "VIRTUAL_ENV"):
        variables.pop(name, None)
    if (environment.prefix / "pyvenv.cfg").is_file():
        variables["VIRTUAL_ENV"] = str(environment.prefix)
    folder = str(environment.python.parent)
    others = [entry for entry in variables.get("PATH", os.defpath).split(os.pathsep) if entry != folder]
    variables["PATH"] = os.pathsep.join([folder, *others])
    return variables

"""The agent's own environment variables: of the `.env` of its folder, as in google-adk, and keys of the system's keyring.

The nearest file named `.env`, from the agent's folder to the root, is read, and no other. A variable of the process wins over one of the
file, which wins over a key of the keyring. google-adk sets the variables in the process for good. Here they are set while the agent is
loaded and while it runs, and removed afterwards, so that another agent of the same process does not use this one's keys. The file is read
again at each start.

Environment variables belong to the whole process. Two agents that run at the same time would see each other's: the window runs one agent
at a time, and the server lets agents with different variables wait for each other.
"""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from inspector_app.engines.samples import is_bundled
from inspector_app.support.agent_keys import AgentKeys
from runtime.errors import KnownError
from runtime.support.bounded import read_file
from runtime.support.lazy import lazy_module
from runtime.support.linkless import TooLargeError

if TYPE_CHECKING:
    import dotenv
else:
    dotenv = lazy_module("dotenv")

ENV_FILE_NAME = ".env"
MAX_BYTES = 1_000_000  # far more than the largest real file

# google-genai takes either; if both are set, the first wins. So a key of the keyring must not displace a person's other one.
_SAME_KEY = ("GOOGLE_API_KEY", "GEMINI_API_KEY")

_Values = dict[str, str | None]  # None: the agent's code deleted the variable


class EnvFileError(KnownError):
    """A `.env` file cannot be read; the message names it and says why."""


class AgentEnvironment:
    """The environment variables of one agent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._changed: _Values = {}

    @property
    def file(self) -> Path | None:
        """The `.env` file that is read; None if there is none, or if ADK_DISABLE_LOAD_DOTENV is set."""
        return find_env_file(self._folder)

    @property
    def names(self) -> list[str]:
        """The variables that the file sets, in its order.

        Raises:
            EnvFileError: the file cannot be read.
        """
        return list(self._in_file())

    @property
    def values(self) -> Mapping[str, str | None]:
        """The variables that a run sees in place of the process's; see `active`.

        Raises:
            EnvFileError: the file cannot be read.
        """
        in_file = self._in_file()
        return {**_keys(in_file), **in_file, **self._changed}

    def keys(self) -> dict[str, str]:
        """Return the keys of the keyring that the agent gets: those that neither the process nor the `.env` file sets.

        A file that cannot be read is reported when the agent is loaded.
        """
        try:
            return _keys(self._in_file())
        except EnvFileError:
            return _keys({})

    @contextmanager
    def active(self) -> Iterator[None]:
        """Set the variables. A value that the agent's code changes meanwhile is kept for its next run.

        Raises:
            EnvFileError: the file cannot be read.
        """
        layer = _push(self.values)
        try:
            yield
        finally:
            self._changed.update(_pop(layer))

    def _in_file(self) -> dict[str, str]:
        file = self.file
        return _read(file) if file is not None else {}


def sentence_of(file: Path, names: Sequence[str]) -> str:
    """Return what a `.env` file sets, and which of its variables the process has already: theirs is the value that counts."""
    given = own_variables()
    new, old = [name for name in names if name not in given], [name for name in names if name in given]
    kept = f" {', '.join(old)} {'is' if len(old) == 1 else 'are'} set already and {'stays' if len(old) == 1 else 'stay'}." if old else ""
    return f"{file} sets {', '.join(new) or 'nothing'}.{kept}"


def find_env_file(folder: Path) -> Path | None:
    """Return the `.env` nearest to an agent's folder, upwards; None if there is none or reading is switched off.

    Bundled samples have none: the folders above them belong to the user.
    """
    if os.environ.get("ADK_DISABLE_LOAD_DOTENV", "").lower() in ("1", "true") or is_bundled(folder):
        return None
    start = Path(os.path.abspath(folder))  # noqa: PTH100  # links stay, as in google-adk
    return next((place / ENV_FILE_NAME for place in (start, *start.parents) if (place / ENV_FILE_NAME).is_file()), None)


def own_variables() -> frozenset[str]:
    """Return the names that the process itself sets, without those of an agent that runs now."""
    with _lock:
        return frozenset(name for name in os.environ if _base.get(name, "") is not None)


def _keys(in_file: Mapping[str, str]) -> dict[str, str]:
    given = {*in_file, *own_variables()}
    if not given.isdisjoint(_SAME_KEY):
        given.update(_SAME_KEY)
    return {name: key for name, key in AgentKeys().values().items() if name not in given}


def _read(file: Path) -> dict[str, str]:
    try:
        data = read_file(file, MAX_BYTES)
    except TooLargeError:
        raise EnvFileError(f"{file} is larger than {MAX_BYTES:,} bytes. A .env file has one NAME=value in a line.") from None
    except OSError as error:
        raise EnvFileError(f"{file} cannot be read: {error.strerror}. Make it readable, or set ADK_DISABLE_LOAD_DOTENV=1.") from None
    if b"\0" in data:
        raise EnvFileError(f"{file} contains NUL bytes. Save it as UTF-8 text.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise EnvFileError(f"{file} is not UTF-8 text. Save it as UTF-8.") from None
    return {name: value for name, value in dotenv.dotenv_values(stream=io.StringIO(text)).items() if name and value is not None}


_lock = threading.Lock()
_layers: list[_Values] = []  # the active ones; the last one that has a name wins
_base: _Values = {}  # the process's own values of the names in the layers


def _push(values: Mapping[str, str | None]) -> _Values:
    with _lock:
        for name in values:
            _base.setdefault(name, os.environ.get(name))
        layer = {name: value for name, value in values.items() if _base[name] is None}
        _layers.append(layer)
        _apply(values)
    return layer


def _pop(layer: _Values) -> _Values:
    """Remove a layer; return the variables that were changed meanwhile."""
    with _lock:
        changed = {name: os.environ.get(name) for name in layer if _top(name) is layer and os.environ.get(name) != layer[name]}
        _layers[:] = [other for other in _layers if other is not layer]
        _apply(layer)
    return changed


def _apply(names: Mapping[str, str | None]) -> None:
    for name in names:
        top = _top(name)
        value = _base[name] if top is None else top[name]
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
        if top is None:
            del _base[name]


def _top(name: str) -> _Values | None:
    return next((layer for layer in reversed(_layers) if name in layer), None)

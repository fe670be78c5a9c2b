"""Eval sets and results as files in an agent's folder, in google-adk's form."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from inspector_app.server.eval_models import EvalCase, EvalSet
from runtime.errors import KnownError, NotFoundError, StorageError
from runtime.support.bounded import Budget, TooMuchError, parse, read_file, read_json_file

_SET = ".evalset.json"
_RESULT = ".evalset_result.json"
_RESULTS = Path(".adk", "eval_history")


class EvalError(KnownError):
    """An eval set or a case cannot be made; the message says why."""


class EvalFiles:
    """The evaluations of one agent. The methods block; call them in a thread.

    Args:
        app_name: the agent's name.
        folder: its folder.
    """

    def __init__(self, app_name: str, folder: Path) -> None:
        self._app_name = app_name
        self._folder = folder

    def names(self) -> list[str]:
        """Return the ids of the eval sets, sorted."""
        return sorted(file.name.removesuffix(_SET) for file in self._folder.glob(f"*{_SET}"))

    def create(self, eval_set_id: str) -> EvalSet:
        """Create an empty eval set.

        Raises:
            EvalError: the id cannot be used, or the set exists.
        """
        if not re.fullmatch(r"[a-zA-Z0-9_]+", eval_set_id):
            raise EvalError("Invalid Eval Set ID. Eval Set ID should have the `^[a-zA-Z0-9_]+$` format")
        if self._set_file(eval_set_id).exists():
            raise EvalError(f"EvalSet {eval_set_id} already exists for app {self._app_name}.")
        made = EvalSet(eval_set_id=eval_set_id, name=eval_set_id, eval_cases=[], creation_timestamp=time.time())
        self._write(made)
        return made

    def read(self, eval_set_id: str) -> EvalSet:
        """Return an eval set.

        Raises:
            NotFoundError: there is none.
            StorageError: the file is none.
        """
        file = self._set_file(eval_set_id)
        if not file.is_file():
            raise NotFoundError(f"Eval set `{eval_set_id}` not found.")
        try:
            return EvalSet.model_validate_json(_content(file))
        except ValidationError as error:
            raise StorageError(f"{file} is not an eval set: {error.errors()[0]['msg']}.") from None

    def case(self, eval_set_id: str, eval_id: str) -> EvalCase:
        """Return a case.

        Raises:
            NotFoundError: there is none.
        """
        try:
            return next(case for case in self.read(eval_set_id).eval_cases if case.eval_id == eval_id)
        except (NotFoundError, StopIteration):
            raise NotFoundError(f"Eval set `{eval_set_id}` or Eval `{eval_id}` not found.") from None

    def add(self, eval_set_id: str, case: EvalCase) -> None:
        """Add a case.

        Raises:
            NotFoundError: there is no such set.
            EvalError: the set has a case of this name.
        """
        found = self.read(eval_set_id)
        if any(other.eval_id == case.eval_id for other in found.eval_cases):
            raise EvalError(f"Eval id `{case.eval_id}` already exists in `{eval_set_id}` eval set.")
        found.eval_cases.append(case)
        self._write(found)

    def replace(self, eval_set_id: str, eval_id: str, case: EvalCase | None) -> None:
        """Replace a case, or delete it if there is no new one.

        Raises:
            NotFoundError: there is no such set or case.
        """
        found = self.read(eval_set_id)
        places = [place for place, other in enumerate(found.eval_cases) if other.eval_id == eval_id]
        if not places:
            raise NotFoundError(f"Eval case `{eval_id}` not found in eval set `{eval_set_id}`.")
        found.eval_cases[places[0] : places[0] + 1] = [case] if case is not None else []
        self._write(found)

    def results(self) -> list[str]:
        """Return the ids of the results."""
        return sorted(file.name.removesuffix(_RESULT) for file in (self._folder / _RESULTS).glob(f"*{_RESULT}"))

    def result(self, result_id: str) -> dict[str, Any]:
        """Return a result as JSON with google-adk's stored names.

        Raises:
            NotFoundError: there is none.
            StorageError: the file is none.
        """
        file = self._folder / _RESULTS / f"{_checked(result_id)}{_RESULT}"
        if not file.is_file():
            raise NotFoundError(f"Eval set result `{result_id}` not found.")
        found = read_json_file(file, StorageError)
        try:
            found = parse(found.encode()) if isinstance(found, str) else found  # as older versions wrote it
        except ValueError as error:
            raise StorageError(f"{file} is not a result: {error}.") from None
        if not isinstance(found, dict):
            raise StorageError(f"{file} is not a result.")
        return found

    def keep_result(self, eval_set_id: str, cases: list[dict[str, Any]]) -> None:
        """Store the results of a set's cases."""
        now = time.time()
        name = f"{self._app_name}_{_checked(eval_set_id)}_{now}"
        folder = self._folder / _RESULTS
        folder.mkdir(parents=True, exist_ok=True)
        result = {
            "eval_set_result_id": name,
            "eval_set_result_name": name,
            "eval_set_id": eval_set_id,
            "eval_case_results": cases,
            "creation_timestamp": now,
        }
        _replace(folder / f"{name}{_RESULT}", json.dumps(result, indent=2, ensure_ascii=False))

    def _set_file(self, eval_set_id: str) -> Path:
        return self._folder / f"{_checked(eval_set_id)}{_SET}"

    def _write(self, eval_set: EvalSet) -> None:
        text = eval_set.model_dump_json(indent=2, exclude_unset=True, exclude_none=True)
        _replace(self._set_file(eval_set.eval_set_id), text)


def _replace(file: Path, text: str) -> None:
    """Write a file completely or not at all: it is read while it is written, and the server may be killed."""
    new = file.with_name(f".{file.name}.new")
    new.write_text(text, "utf-8")
    new.replace(file)


def _content(file: Path) -> bytes:
    try:
        content = read_file(file)
        Budget().take_json(content)
    except TooMuchError as error:
        raise StorageError(f"{file} {error}, so it is not read.") from None
    except OSError as error:
        raise StorageError(f"{file} cannot be read: {error.strerror or error}.") from None
    return content


def _checked(name: str) -> str:
    """Return an id that can be a file's name.

    Raises:
        NotFoundError: it cannot, so there is no such file.
    """
    if not name or name.startswith(".") or any(sign in name for sign in '/\\\0:"') or len(name.encode("utf-8", "replace")) > 200:
        raise NotFoundError(f"There is no evaluation {name!r}.")
    return name

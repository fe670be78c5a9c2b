"""Checks of services against every clause, and the report of the results."""

from __future__ import annotations

import tempfile
import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tests.conformance.clause import CLAUSES, Backend, Clause, UnsupportedError, hold

Outcome = Literal["passed", "failed", "unsupported"]


@dataclass(frozen=True)
class Result:
    """The result of one clause with one service.

    Attributes:
        backend, clause: their names.
        outcome: `passed`, `failed` or `unsupported`.
        reason: one line, for `failed` and `unsupported`.
    """

    backend: str
    clause: str
    outcome: Outcome
    reason: str = ""


async def try_all(backends: Iterable[Backend], clauses: Sequence[Clause] = CLAUSES) -> list[Result]:
    """Check each service against each clause."""
    results = []
    for backend in backends:
        for clause in clauses:
            # Threads that a service left behind may still write to the folder.
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                results.append(await _try(backend, clause, Path(folder)))
    return results


async def _try(backend: Backend, clause: Clause, folder: Path) -> Result:
    try:
        await hold(backend, clause, folder)
    except UnsupportedError as error:
        return Result(backend.name, str(clause), "unsupported", str(error))
    except TimeoutError:
        return Result(backend.name, str(clause), "failed", "it hangs")
    except Exception as error:
        return Result(backend.name, str(clause), "failed", _reason(error))
    return Result(backend.name, str(clause), "passed")


def _reason(error: Exception) -> str:
    """Return the line of the clause that failed, and the error."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).parent.name == "clauses"]
    where = [f"{Path(frame.filename).name}:{frame.lineno} {frame.line}" for frame in frames[-1:]]
    first_line = str(error).strip().split("\n")[0][:200]
    return ": ".join([*where, type(error).__name__, *filter(None, [first_line])])


def table(results: Sequence[Result]) -> str:
    """Return the results as a table with clauses as rows and services as columns, followed by the reasons."""
    names = list(dict.fromkeys(result.backend for result in results))
    found = {(result.clause, result.backend): result for result in results}
    clauses = list(dict.fromkeys(result.clause for result in results))
    rows = [["clause", *names]] + [[clause, *(found[clause, name].outcome for name in names)] for clause in clauses]
    rows.append(["", *(_counts(result for result in results if result.backend == name) for name in names)])
    widths = [max(len(row[column]) for row in rows) for column in range(len(names) + 1)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    reasons = [
        f"{result.outcome}  {result.backend}  {result.clause}\n    {result.reason}" for result in results if result.outcome == "failed"
    ]
    unsupported = dict.fromkeys(
        f"unsupported  {result.backend}  {result.clause}\n    {result.reason}" for result in results if result.outcome == "unsupported"
    )
    return "\n".join([*lines, "", *reasons, *unsupported])


def _counts(results: Iterable[Result]) -> str:
    counts = Counter(result.outcome for result in results)
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("passed", "failed", "unsupported") if counts[outcome])

"""What an eval measures, and from which score on a case has passed: google-adk's `test_config.json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from inspector_app.analysis.eval_scores import MATCH_TYPES, RESPONSE, TRAJECTORY, Trajectory
from runtime.errors import KnownError
from runtime.support.bounded import read_json_file

CONFIG = "test_config.json"


class EvalConfigError(KnownError):
    """A config that cannot be used; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One metric.

    Attributes:
        metric: its name.
        threshold: the lowest score that passes; None if the metric has none of its own.
        trajectory: how tool calls are compared.
        given: the criterion as the file has it, for google-adk.
    """

    metric: str
    threshold: float | None
    trajectory: Trajectory = field(default_factory=Trajectory)
    given: Any = None

    @property
    def is_judged(self) -> bool:
        """Whether only google-adk can compute the metric."""
        return self.metric not in (TRAJECTORY, RESPONSE)


DEFAULT = (Criterion(TRAJECTORY, 1.0, given=1.0), Criterion(RESPONSE, 0.8, given=0.8))


def criteria_for(config: str | None, eval_sets: Sequence[Path]) -> tuple[Criterion, ...]:
    """Return the criteria of an eval, found as `adk eval` finds them.

    Args:
        config: the file that the user named; None: `test_config.json` beside the only eval set, if it is there.
        eval_sets: the eval sets' files.

    Raises:
        EvalConfigError: the config cannot be read, or is not what it should be.
    """
    if config is not None:
        return read_criteria(Path(config))
    beside = eval_sets[0].with_name(CONFIG) if len(eval_sets) == 1 else None
    return read_criteria(beside) if beside is not None and beside.exists() else DEFAULT


def read_criteria(file: Path) -> tuple[Criterion, ...]:
    """Return the criteria in a file; see `criteria_for` for the errors."""
    data = read_json_file(file, EvalConfigError)
    given = data.get("criteria") if isinstance(data, dict) else None
    if not isinstance(given, dict):
        raise EvalConfigError(f"{file}: it needs an object of `criteria`, each with a threshold.")
    return tuple(_criterion(file, name, value) for name, value in given.items())


def _criterion(file: Path, name: str, value: Any) -> Criterion:
    if _is_number(value):
        return Criterion(name, float(value), given=value)
    if not isinstance(value, dict):
        raise EvalConfigError(f"{file}: the criterion {name!r} must be a threshold, or an object with a `threshold`.")
    threshold = value.get("threshold")
    if name not in (TRAJECTORY, RESPONSE):
        return Criterion(name, float(threshold) if _is_number(threshold) else None, given=value)
    if not _is_number(threshold):
        raise EvalConfigError(f"{file}: the criterion {name!r} needs a `threshold`.")
    kind = value.get("match_type", value.get("matchType", "EXACT"))
    if isinstance(kind, int) and 0 <= kind < len(MATCH_TYPES):
        kind = MATCH_TYPES[kind]
    words = str(kind).upper().replace("-", "_").replace(" ", "_")
    found = next((each for each in MATCH_TYPES if each == words), None)
    if found is None:
        raise EvalConfigError(f"{file}: {kind!r} is no match type: {', '.join(MATCH_TYPES)}.")
    ignores = bool(value.get("ignore_args", value.get("ignoreArgs", False)))
    return Criterion(name, float(threshold), Trajectory(found, ignores), value)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e9  # not NaN, nor more than a float holds

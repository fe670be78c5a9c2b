"""Paths of the shared fixture databases, and writable copies of them."""

from __future__ import annotations

import json
import os
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.sweep import count

_BESIDE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "fixtures"


def fixtures_dir() -> Path:
    """Return the folder of the shared fixtures.

    If it is missing, skip the test with a reason; in continuous integration (CI is set), fail it.
    """
    folder = Path(os.environ.get("INSPECTOR_FIXTURES") or _BESIDE_CHECKOUT)
    if not (folder / "open" / "manifest.json").exists():
        reason = f"the shared fixture databases are not at {folder}; set INSPECTOR_FIXTURES to their folder"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason, allow_module_level=True)
    return folder


def seeds_dir() -> Path:
    """Return the folder of the seed documents beside the fixtures, or skip the test if it is missing."""
    return fixtures_dir().parent / "seeds"


@cache
def manifest() -> list[dict[str, Any]]:
    """Return the manifest's entries for the databases in `open/`."""
    databases: list[dict[str, Any]] = json.loads((fixtures_dir() / "open" / "manifest.json").read_text("utf-8"))["databases"]
    return databases


def varied() -> list[dict[str, Any]]:
    """Return databases with each scenario in each layout and phase, and each version and time zone in each layout; in `make soak`, all.

    A test that asks for them is marked `sweep`.
    """
    pairs = (("scenario", "layout"), ("scenario", "phase"), ("layout", "adk_version"), ("layout", "tz"))
    found: list[dict[str, Any]] = []
    seen: set[Any] = set()
    for entry in manifest():
        has = {(pair, *(entry[field] for field in pair)) for pair in pairs}
        if not has <= seen or count(quick=0, full=1):
            found.append(entry)
        seen |= has
    return found


def copy_of(name: str, folder: Path) -> Path:
    """Copy a fixture database, such as `open/adk2.13.0-v1-empty.db`, into `folder` and return the copy."""
    return Path(shutil.copy(fixtures_dir() / name, folder))

"""Where the shared fixture databases are, and copies of them to write to."""

from __future__ import annotations

import json
import os
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_BESIDE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "fixtures"


def fixtures_dir() -> Path:
    """Return the folder of the shared fixtures.

    Where it is absent the test is skipped, saying so; in continuous integration (CI is set) it fails.
    """
    folder = Path(os.environ.get("INSPECTOR_FIXTURES") or _BESIDE_CHECKOUT)
    if not (folder / "open" / "manifest.json").exists():
        reason = f"the shared fixture databases are not at {folder}; set INSPECTOR_FIXTURES to their folder"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason, allow_module_level=True)
    return folder


def seeds_dir() -> Path:
    """Return the folder of the seed documents, beside the fixtures; skip the test where it is absent."""
    return fixtures_dir().parent / "seeds"


@cache
def manifest() -> list[dict[str, Any]]:
    """Return what the manifest says of each database in `open/`."""
    databases: list[dict[str, Any]] = json.loads((fixtures_dir() / "open" / "manifest.json").read_text("utf-8"))["databases"]
    return databases


def copy_of(name: str, folder: Path) -> Path:
    """Copy a fixture database, such as `open/adk2.13.0-v1-empty.db`, into `folder` and return the copy."""
    return Path(shutil.copy(fixtures_dir() / name, folder))

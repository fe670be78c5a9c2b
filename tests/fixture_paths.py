"""Paths of the fixture databases, and writable copies of them."""

from __future__ import annotations

import getpass
import hashlib
import json
import os
import shutil
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.sweep import count

_PACKED = Path(__file__).parent / "data" / "databases.tar.xz"
_BESIDE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared"


@cache
def fixtures_dir() -> Path:
    """Return the folder of the fixture databases, unpacked once for each version of the archive; `INSPECTOR_FIXTURES` names another."""
    if named := os.environ.get("INSPECTOR_FIXTURES"):
        return Path(named)
    version = hashlib.sha256(_PACKED.read_bytes()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"agent-inspector-fixtures-{getpass.getuser()}-{version}"
    if not folder.exists():
        unpacked = Path(tempfile.mkdtemp(dir=folder.parent, prefix=folder.name))
        with tarfile.open(_PACKED) as archive:
            archive.extractall(unpacked, filter="data")
        try:
            unpacked.rename(folder)
        except OSError:  # another test process was first
            shutil.rmtree(unpacked)
    return folder


def seeds_dir() -> Path:
    """Return the folder of the seed documents beside the checkout, or skip the test if it is missing."""
    folder = _BESIDE_CHECKOUT / "seeds"
    if not folder.exists():
        pytest.skip(f"the seed documents are not at {folder}", allow_module_level=True)
    return folder


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

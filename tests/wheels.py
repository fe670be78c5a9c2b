"""Wheels for installers without a network."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest


def make_wheel(folder: Path, name: str, version: str, files: Mapping[str, str] | None = None, *metadata: str) -> Path:
    """Write a wheel.

    Args:
        folder: where it is written.
        name, version: of the package.
        files: the text of its files, by their places in `site-packages`; None: a module without names.
        *metadata: more lines of its metadata, such as `Requires-Dist: …`.
    """
    folder.mkdir(exist_ok=True)
    module = name.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    contents = {
        **({f"{module}.py": ""} if files is None else files),
        f"{info}/METADATA": "\n".join(["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *metadata, ""]),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    contents[f"{info}/RECORD"] = "".join(f"{place},,\n" for place in (*contents, f"{info}/RECORD"))
    wheel = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as opened:
        for place, text in contents.items():
            opened.writestr(place, text)
    return wheel


def install_from(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pip find packages in this folder only, and let no uv be found."""
    for name, value in (
        ("PIP_NO_INDEX", "1"),
        ("PIP_FIND_LINKS", str(folder)),
        ("PIP_CONFIG_FILE", "/dev/null"),
        ("PATH", "/usr/bin:/bin"),
    ):
        monkeypatch.setenv(name, value)
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT"):
        monkeypatch.delenv(name, raising=False)

"""Packages and shared files of the wheel: `resources` is installed inside `inspector_app`. Everything else is in pyproject.toml."""

import os
from pathlib import Path

from setuptools import find_namespace_packages, find_packages, setup

_RESOURCES = "inspector_app.resources"
_DESKTOP = Path("resources/desktop")


def _shared_files() -> list[tuple[str, list[str]]]:
    """Return what a desktop reads, by folder below the installation's prefix."""
    folders = [
        ("share/applications", "*.desktop"),
        ("share/metainfo", "*.metainfo.xml"),
        ("share/icons/hicolor/scalable/apps", "icons/*.svg"),
    ]
    files = [(folder, [str(file) for file in sorted(_DESKTOP.glob(pattern))]) for folder, pattern in folders]
    for picture in sorted((_DESKTOP / "icons").glob("*/agent-inspector.png")):
        files.append((f"share/icons/hicolor/{picture.parent.name}/apps", [str(picture)]))
    return files


def _urls() -> dict[str, str]:
    """Return the repository's pages; none unless `make dist` says where the repository is."""
    repository = os.environ.get("AGENT_INSPECTOR_REPOSITORY")
    if not repository:
        return {}
    return {"Source": repository, "Issues": f"{repository}/issues", "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md"}


setup(
    packages=[
        *find_packages(include=["runtime*", "inspector_app*"]),
        _RESOURCES,
        *(f"{_RESOURCES}.{name}" for name in find_namespace_packages("resources")),
    ],
    package_dir={_RESOURCES: "resources"},
    data_files=_shared_files(),
    project_urls=_urls(),
)

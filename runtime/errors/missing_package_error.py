"""The error for a package that a part of the runtime needs and that is not installed."""

from __future__ import annotations

import importlib.util
import re
from importlib import metadata

from runtime.errors.known_error import KnownError


class MissingPackageError(KnownError, ImportError):
    """A package of an extra is not installed. The message has the command that installs it."""


def is_installed(package: str) -> bool:
    """Return whether a package is installed, without importing it."""
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # of the package that it is a part of
        return False


def require(package: str, extra: str, part: str, *, oldest: str = "") -> None:
    """Check that a package is installed, without importing it.

    Args:
        package: the package's name in an import.
        extra: the extra of agent-inspector that installs it.
        part: what needs it, as the subject of a sentence in the plural.
        oldest: the oldest version that will do, such as "1.24".

    Raises:
        MissingPackageError: it is not installed, or too old.
    """
    command = f"pip install 'agent-inspector[{extra}]'"
    if not is_installed(package):
        raise MissingPackageError(f"{part} need the package {package}: {command}.", name=package)
    if oldest and _numbers(version := metadata.version(package)) < _numbers(oldest):
        raise MissingPackageError(
            f"{part} need the package {package} in version {oldest} or newer, and {version} is installed: {command}.", name=package
        )


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:3]]

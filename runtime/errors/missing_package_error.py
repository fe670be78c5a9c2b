"""The error for a package that a part of the runtime needs and that is not installed."""

from __future__ import annotations

import importlib.util
import re

from runtime.errors.known_error import KnownError


class MissingPackageError(KnownError, ImportError):
    """A package of an extra is not installed. The message has the command that installs it."""


def is_installed(package: str) -> bool:
    """Return whether a package is installed, without importing it."""
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # of the package that it is a part of
        return False


def require(package: str, extra: str, part: str, *, oldest: str = "", distribution: str = "") -> None:
    """Check that a package is installed, without importing it.

    Args:
        package: the package's name in an import.
        extra: the extra of agent-inspector that installs it.
        part: what needs it, as the subject of a sentence in the plural.
        oldest: the oldest version that will do, such as "1.24".
        distribution: the package's name for pip, if it is another one.

    Raises:
        MissingPackageError: it is not installed, or too old.
    """
    command, name = f"pip install 'agent-inspector[{extra}]'", distribution or package
    if not is_installed(package) or (distribution and not _has_files(distribution)):
        raise MissingPackageError(f"{part} need the package {name}: {command}.", name=package)
    if oldest and _numbers(version := _version(name)) < _numbers(oldest):
        raise MissingPackageError(
            f"{part} need the package {name} in version {oldest} or newer, and {version} is installed: {command}.", name=package
        )


def _has_files(distribution: str) -> bool:
    """Return whether pip knows it; a folder of the package's name can be anything."""
    try:
        return bool(_version(distribution))
    except ModuleNotFoundError:
        return False


def _version(distribution: str) -> str:
    version: str = importlib.import_module("importlib.metadata").version(distribution)  # loads the parser of e-mails, which few need
    return version


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:3]]

"""The error for a package that a part of the runtime needs and that is not installed."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys

from runtime.errors.known_error import KnownError


class MissingPackageError(KnownError, ImportError):
    """A package of an extra is not installed. The message has the command that installs it."""


def is_installed(package: str) -> bool:
    """Return whether a package is installed, without importing it."""
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # of the package that it is a part of
        return False


def install_command(*packages: str, extra: str = "") -> str:
    """Return the command that installs packages into the Python that runs this, to be pasted: nothing follows it in a sentence.

    It does not name agent-inspector: an index may have another project of that name.

    Args:
        packages: what pip is to install.
        extra: an extra of agent-inspector, whose packages are added.
    """
    metadata = importlib.import_module("importlib.metadata")  # loads the parser of e-mails, which few need
    try:
        required = [one.partition(";") for one in metadata.requires("agent-inspector") or () if extra]
    except metadata.PackageNotFoundError:
        required = []
    names = [name.strip() for name, _, marker in required if marker.strip() == f'extra == "{extra}"']
    installer = (sys.executable, "-m", "pip", "install") if is_installed("pip") else ("uv", "pip", "install", "--python", sys.executable)
    return shlex.join((*installer, *packages, *names))


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
    name = distribution or package
    if not is_installed(package) or (distribution and not _has_files(distribution)):
        raise MissingPackageError(f"{part} need the package {name}: {install_command(extra=extra)}", name=package)
    if oldest and _numbers(version := _version(name)) < _numbers(oldest):
        raise MissingPackageError(
            f"{part} need the package {name} in version {oldest} or newer, and {version} is installed: {install_command(extra=extra)}",
            name=package,
        )


def _has_files(distribution: str) -> bool:
    """Return whether pip knows it; a folder of the package's name can be anything."""
    try:
        return bool(_version(distribution))
    except ModuleNotFoundError:
        return False


def _version(distribution: str) -> str:
    version: str = importlib.import_module("importlib.metadata").version(distribution)
    return version


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:3]]

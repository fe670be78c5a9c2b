"""Objects in code that a YAML file names.

Only google-adk's names, modules in the agent's folder, and modules next to that folder can be named. A file is found before its module is
imported, so that a name in a YAML file imports nothing else.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ADK = "google.adk"
_REMEDY = "To use it, run the agent on google-adk: install google-adk in its environment, or name a Python that has it with --python"


class UnknownReferenceError(Exception):
    """A name refers to nothing; the message says why, without a full stop."""


def package_of(folder: Path) -> tuple[str, Path]:
    """Return the outermost loaded package that a folder belongs to, and its folder; if there is none, the folder as a package."""
    loaded = {
        str(place): name
        for name, module in list(sys.modules.items())
        if "." not in name
        for place in (getattr(module, "__path__", None) or ())
    }
    for place in reversed((folder, *folder.parents)):
        if str(place) in loaded:
            return loaded[str(place)], place
    return folder.name, folder


def resolve(name: str, folder: Path) -> Any:
    """Return the object that a name refers to, importing its module.

    Args:
        name: `google.adk.…`, or module and name; the module is searched in `folder`, in the agent's folder, and next to the latter. With
            a dot in front, in `folder` alone.
        folder: the folder of the YAML file.

    Raises:
        UnknownReferenceError: there is no such object, or it is elsewhere.
        Exception: the module's own code failed.
    """
    if name.startswith(f"{ADK}."):
        return _of_adk(name)
    parts = name.removeprefix(".").split(".")
    if not all(part.isidentifier() for part in parts) or (len(parts) < 2 and not name.startswith(".")):
        raise UnknownReferenceError(f"{name!r} is not the name of an object in code, such as my_agent.tools.my_tool")
    package, root = package_of(folder)
    modules = parts[:-1]
    inside = folder.relative_to(root).parts
    # As google-adk reads it, a name begins with the agent's folder.
    candidates: list[tuple[Path, tuple[str, ...], list[str]]] = []
    if modules[:1] == [root.name] and not name.startswith("."):
        candidates.append((root, (package,), modules[1:]))
    candidates.append((folder, (package, *inside), modules))
    if not name.startswith("."):
        candidates.append((root, (package,), modules))
        if modules[0] not in sys.stdlib_module_names:
            candidates.append((root.parent, (), modules))
    for base, prefix, below in candidates:
        if not (below or prefix) or not _is_module(base.joinpath(*below)):
            continue
        module = _imported(".".join((*prefix, *below)), root.parent)
        if _is_in(module, root.parent):  # not a package of Python's that has the same name
            return _attribute(name, module, parts[-1])
    raise UnknownReferenceError(
        f"{name} is not in the agent's folder nor next to it, where the embedded runtime searches the code of a YAML file. {_REMEDY}"
    )


def _of_adk(name: str) -> Any:
    module, _, attribute = name.removeprefix(f"{ADK}.").rpartition(".")
    path = ".".join(filter(None, ("runtime", module)))
    try:
        return getattr(importlib.import_module(path), attribute)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("runtime"):
            raise
    except AttributeError:
        pass
    raise UnknownReferenceError(f"the embedded runtime has no {name}. {_REMEDY}")


def _is_module(place: Path) -> bool:
    return place.is_dir() or place.with_name(f"{place.name}.py").is_file()


def _is_in(module: Any, folder: Path) -> bool:
    places = [getattr(module, "__file__", None), *(getattr(module, "__path__", None) or ())]
    return any(Path(place).is_relative_to(folder) for place in places if place)


def _imported(module: str, beside: Path) -> Any:
    with _importable(beside):
        return importlib.import_module(module)


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Let the agent's modules be imported, after all installed ones."""
    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _attribute(name: str, module: Any, attribute: str) -> Any:
    try:
        return getattr(module, attribute)
    except AttributeError:
        pass
    try:
        return importlib.import_module(f"{module.__name__}.{attribute}")
    except ModuleNotFoundError:
        raise UnknownReferenceError(f"{getattr(module, '__file__', None) or module.__name__} has no {name.rpartition('.')[2]}") from None

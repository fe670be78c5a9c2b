"""Agent Inspector: the desktop debugger, the command line and the server."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def _find_resources() -> None:
    """Make `inspector_app.resources` importable in a checkout, where its folder is beside this package; a wheel has it inside."""
    inside, beside = (parent / "resources" / "__init__.py" for parent in Path(__file__).resolve().parents[:2])
    if inside.is_file() or not beside.is_file():
        return
    spec = importlib.util.spec_from_file_location(f"{__name__}.resources", beside, submodule_search_locations=[str(beside.parent)])
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


_find_resources()

"""Typer's help without what it imports and this program does not use: a third of the time of `--help`."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

_UNUSED = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}  # our help has no Markdown, our errors have no tracebacks


def import_rich_help() -> None:
    """Import `typer.rich_utils` with stand-ins for rich's Markdown and tracebacks, unless it is imported already."""
    if "typer.rich_utils" in sys.modules:
        return
    stand_ins = {name: _stand_in(name, member) for name, member in _UNUSED.items() if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        importlib.import_module("typer.rich_utils")
    finally:
        for name in stand_ins:
            del sys.modules[name]


def _stand_in(name: str, member: str) -> ModuleType:
    module = ModuleType(name)
    setattr(module, member, type(member, (), {}))
    return module

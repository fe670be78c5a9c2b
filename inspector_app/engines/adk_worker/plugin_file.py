"""The inspector's plugin, which holds and reports runs: a file that works alone, and is loaded from where it is installed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

__all__ = ["FILE", "plugin"]

_PLACES = (top / "resources" / "plugins" / "inspector_plugin.py" for top in Path(__file__).resolve().parents[2:4])
FILE = next(file for file in _PLACES if file.is_file())  # inside `inspector_app` in a wheel, beside it in a checkout

if TYPE_CHECKING:
    from resources.plugins import inspector_plugin as plugin
else:
    _spec = importlib.util.spec_from_file_location(f"{__package__}.inspector_plugin", FILE)
    plugin = sys.modules[_spec.name] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(plugin)

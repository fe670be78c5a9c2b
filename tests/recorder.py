"""The recorder plugin, loaded from its file as an app that has copied it does."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "resources" / "plugins" / "recorder_plugin.py"


def load_recorder() -> Any:
    """Return the module `recorder_plugin`."""
    if "recorder_plugin" not in sys.modules:
        spec = importlib.util.spec_from_file_location("recorder_plugin", FILE)
        assert spec and spec.loader
        module = sys.modules["recorder_plugin"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules["recorder_plugin"]

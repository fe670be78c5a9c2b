"""The recorder's file, which is handed to an agent's own process, and its plugin in this one."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import cast

from runtime.plugins.base_plugin import BasePlugin
from runtime.storage.connections.open_files import open_files

RECORDER_FILE = Path(str(files("inspector_app.resources"))) / "plugins" / "recorder_plugin.py"
_MODULE = "inspector_app.resources.plugins.recorder_plugin"


@lru_cache(maxsize=8)  # a recorder remembers what its file holds; a new one would store every conversation again
def recorder_plugin(recording: Path) -> BasePlugin:
    """Return the plugin that records the runs of this process in a file.

    Args:
        recording: the file; created with the first call of a model.
    """
    return cast("BasePlugin", recorder_module().RecorderPlugin(recording))


def finish_recording(recording: Path) -> None:
    """Write what the runs of this process have recorded in a file, and close the file. It blocks."""
    recorder_plugin(recording).recording.close()  # type: ignore[attr-defined]  # of the module below


@cache
def recorder_module() -> ModuleType:
    """Return the module of the recorder's file."""
    spec = importlib.util.spec_from_file_location(_MODULE, RECORDER_FILE)
    assert spec is not None and spec.loader is not None
    module = sys.modules[_MODULE] = importlib.util.module_from_spec(spec)  # dataclasses look their module up
    spec.loader.exec_module(module)
    module.connect = open_files.connect  # type: ignore[attr-defined]
    return module

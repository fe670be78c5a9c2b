"""A process in which neither Qt nor the application can be imported: `pytest -p tests.without_qt`, or `import tests.without_qt`.

`make test` runs the runtime's unit tests this way, because the runtime must use neither.
"""

from __future__ import annotations

import importlib.abc
import sys
from typing import Any

BLOCKED = {"PySide6", "shiboken6", "qasync", "qtpy", "qtawesome", "inspector_app"}


class _Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.split(".")[0] in BLOCKED:
            raise ImportError(f"{name} cannot be imported in this process")


sys.meta_path.insert(0, _Blocked())

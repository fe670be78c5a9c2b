"""PySide6 that does not read the source of every module.

Once PySide6 is loaded, it reads and keeps the source of each module that is imported, to find out whether the module uses Qt: a tenth of
the start, and 17 MB. Its answer matters only for modules that switch PySide6's features on, which none here does. Import this module
before the others of the window.
"""

from __future__ import annotations

import importlib
from types import ModuleType

import PySide6.QtCore  # noqa: F401  # brings what is replaced below

_ASKS = "_mod_uses_pyside"  # PySide6's function that reads a module's source


def _uses_qt(module: ModuleType) -> bool:
    return module.__name__.startswith("inspector_app.")


def _replace() -> None:
    try:
        feature = importlib.import_module("shibokensupport.feature")
    except ImportError:  # another version of PySide6, which may take its time
        return
    if hasattr(feature, _ASKS):
        setattr(feature, _ASKS, _uses_qt)


_replace()

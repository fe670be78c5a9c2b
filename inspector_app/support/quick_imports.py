"""PySide6 whose features do not slow down imports.

Once PySide6 is loaded, each `import` statement asks whether it switches one of PySide6's features on, which none here does. PySide6 reads
and keeps the source of each module for it: a tenth of the start, and 17 MB. It also asks modules that another thread is importing for
names, which made pydantic import itself in a circle and the agent fail to load. Import this module before the others of the window.
"""

from __future__ import annotations

import builtins

import PySide6.QtCore  # noqa: F401  # replaces the import function, and keeps the one before

builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)  # another version of PySide6 may not keep it

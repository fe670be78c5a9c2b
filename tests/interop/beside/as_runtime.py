"""Run a program on the embedded runtime: `python as_runtime.py MODULE [ARGUMENT...]`, with `google.adk` found in `runtime`."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import runpy
import sys
from types import ModuleType
from typing import Any


class _Runtime(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(name, self) if name == "google.adk" or name.startswith("google.adk.") else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return importlib.import_module("runtime" + spec.name.removeprefix("google.adk"))

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module is imported."""


if __name__ == "__main__":
    sys.meta_path.insert(0, _Runtime())
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__")

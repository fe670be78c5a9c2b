"""Write the signatures of public classes and functions as JSON: `python public_surface.py PACKAGE NAMES`.

It also runs in google-adk's Python, so it imports nothing of ours. `NAMES` is a JSON object: module → names in it. A pydantic model is
described by its fields.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import json
import sys
from functools import cached_property
from typing import Any

from pydantic import BaseModel

PACKAGE, NAMES = sys.argv[1], json.loads(sys.argv[2])


def default_of(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    plain = value is None or isinstance(value, (bool, int, float, str, tuple, list, dict))
    return repr(value) if plain else type(value).__name__


def parameters_of(function: Any) -> dict[str, list[str]]:
    found = {}
    for name, parameter in inspect.signature(function).parameters.items():
        required = parameter.default is inspect.Parameter.empty
        found[name] = [parameter.kind.name, "required" if required else default_of(parameter.default)]
    return found


def fields_of(model: type[BaseModel]) -> dict[str, list[str]]:
    found = {}
    for name, field in model.model_fields.items():
        made = field.default_factory is not None
        found[name] = ["FIELD", "required" if field.is_required() else "made" if made else default_of(field.default)]
    return found


def surface_of(thing: Any) -> dict[str, Any]:
    if not inspect.isclass(thing):
        return {"": parameters_of(thing)} if callable(thing) else {"": {}}
    is_model = issubclass(thing, BaseModel)
    found: dict[str, Any] = {"": fields_of(thing) if is_model else {} if issubclass(thing, enum.Enum) else parameters_of(thing)}
    for name in dir(thing):
        if name.startswith("_") or hasattr(BaseModel, name) or hasattr(Exception, name) or (is_model and name in thing.model_fields):
            continue
        member = inspect.getattr_static(thing, name)
        if isinstance(member, (property, cached_property)):
            found[name] = {}
        elif inspect.isroutine(getattr(thing, name)):
            found[name] = parameters_of(getattr(thing, name))
    return found


answer: dict[str, Any] = {}
for module, names in NAMES.items():
    for name in names.split():
        thing = getattr(importlib.import_module(f"{PACKAGE}.{module}"), name, None)
        if thing is not None:
            answer[name] = surface_of(thing)
sys.stdout.write(json.dumps(answer) + "\n")

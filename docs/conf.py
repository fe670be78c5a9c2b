"""Sphinx settings of the documentation; `make docs` builds it."""

import importlib
import os
import re
from enum import Enum
from importlib.metadata import version as installed_version
from pathlib import Path

from PySide6.QtWidgets import QApplication
from sphinx.application import Sphinx

import runtime.expressions
from inspector_app.shell.features import Features
from inspector_app.widgets import theme
from inspector_app.widgets.places import Places

project = "Agent Inspector"
author = "The Agent Inspector authors"
release = version = installed_version("agent-inspector")
html_title = "Agent Inspector"
html_theme = "furo"
html_static_path: list[str] = []

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # else each attribute in a class's docstring is described twice

# Packages load their names when these are used, and autodoc only documents what a package has.
for page in Path(__file__).with_name("reference").glob("*.md"):
    for line in page.read_text(encoding="utf-8").splitlines():
        directive, _, name = line.partition("automodule:: ")
        if directive == ".. ":
            module = importlib.import_module(name)
            for exported in getattr(module, "__all__", ()):
                setattr(module, exported, getattr(module, exported))


def shortcuts() -> str:
    """Return the window's commands with their keys as a Markdown table."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    theme.apply(application, "light")
    rows = ["| command | keys |", "|---|---|"]
    places = Places()
    Features(places)
    for action in vars(places.commands).values():
        keys = ", ".join(key.toString() for key in action.shortcuts())
        rows.append(f"| {action.text()} | {keys or '(menu, palette)'} |")
    return "\n".join(rows)


CONDITIONS = runtime.expressions.__doc__.partition("\n")[2]
SHORTCUTS = shortcuts()


def setup(app: Sphinx) -> None:
    """Fill pages from the code, and read docstrings as Markdown writes code: `name`, also directly before a letter."""

    def filled(_app: Sphinx, _page: str, text: list[str]) -> None:
        text[0] = text[0].replace("{{condition_language}}", CONDITIONS).replace("{{shortcuts}}", SHORTCUTS)

    def as_literal(found: re.Match[str]) -> str:
        return f"``{found[1]}``" + (rf"\ {found[2]}" if found[2] else "")

    def as_literals(_app: Sphinx, _what: str, name: str, _object: object, _options: object, lines: list[str]) -> None:
        if name == "runtime.expressions":
            lines[:] = ["The language is described in :doc:`/conditions`."]
        else:
            lines[:] = [re.sub(r"(?<!`)`([^`]+)`(?!`)(\w?)", as_literal, line) for line in lines]

    def one_name_each(_app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
        """Describe attributes that share a description one by one: Sphinx would read `:ivar left, right:` as a type and a name."""
        fields: list[list[str]] = []
        for line in lines:
            if line.startswith(" ") and fields:
                fields[-1].append(line)
            else:
                fields.append([line])
        lines.clear()
        for first, *rest in fields:
            found = re.match(r":ivar (\w+(?:, \w+)+):(.*)", first)
            for name in found[1].split(", ") if found else ():
                lines += [f":ivar {name}:{found[2] if found else ''}", *rest]
            if not found:
                lines += [first, *rest]

    def skipped(_app: Sphinx, _what: str, name: str, value: object, _skip: bool, _options: object) -> bool | None:
        if name in {"model_config", "model_post_init"}:
            return True  # pydantic's own
        return False if isinstance(value, Enum) or (name.isupper() and not name.startswith("_")) else None  # values say enough

    app.connect("source-read", filled)
    app.connect("autodoc-process-docstring", one_name_each, priority=600)  # after Napoleon
    app.connect("autodoc-skip-member", skipped)
    app.connect("autodoc-process-docstring", as_literals, priority=400)  # before Napoleon

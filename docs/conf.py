"""Sphinx settings of the documentation; `make docs` builds it."""

import importlib
import os
import re
from importlib.metadata import version as installed_version
from pathlib import Path

from PySide6.QtWidgets import QApplication
from sphinx.application import Sphinx

import runtime.expressions
from inspector_app.widgets import theme
from inspector_app.widgets.actions import make_actions

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
autodoc_default_options = {"members": True, "undoc-members": False, "show-inheritance": True}
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
    for action in make_actions(application).all:
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

    app.connect("source-read", filled)
    app.connect("autodoc-process-docstring", as_literals, priority=400)  # before Napoleon

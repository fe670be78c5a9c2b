"""The check that a package is installed, and new enough."""

from __future__ import annotations

from importlib import metadata

import pytest

from runtime.errors.missing_package_error import MissingPackageError, require


def test_a_package_that_is_there_and_new_enough() -> None:
    require("pydantic", "x", "Models", oldest="2.0")


def test_a_missing_package_is_named_with_its_command() -> None:
    with pytest.raises(MissingPackageError, match=r"MCP tools need the package no_such: .* install 'mcp<3,>=2\.3'$") as caught:
        require("no_such", "mcp", "MCP tools", oldest="2.0")
    assert caught.value.name == "no_such"


def test_an_old_package_is_named_with_its_version() -> None:
    version = metadata.version("pydantic")
    with pytest.raises(MissingPackageError, match=f"in version 99.1 or newer, and {version} is installed: .* install"):
        require("pydantic", "x", "Models", oldest="99.1")

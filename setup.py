"""Packages of the wheel: `resources` is installed inside `inspector_app`. Everything else is in pyproject.toml."""

from setuptools import find_namespace_packages, find_packages, setup

_RESOURCES = "inspector_app.resources"

setup(
    packages=[
        *find_packages(include=["runtime*", "inspector_app*"]),
        _RESOURCES,
        *(f"{_RESOURCES}.{name}" for name in find_namespace_packages("resources")),
    ],
    package_dir={_RESOURCES: "resources"},
)

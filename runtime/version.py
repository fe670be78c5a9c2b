"""The version of the installed package."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("agent-inspector")
except PackageNotFoundError:  # run from its source
    __version__ = "0.1.0"

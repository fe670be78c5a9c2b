"""An agent for evals."""

from . import agent  # noqa: F401

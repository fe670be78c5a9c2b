"""`contextlib.aclosing` under google-adk's name, for custom agents that iterate over the runs of other agents."""

from contextlib import aclosing as Aclosing

__all__ = ["Aclosing"]

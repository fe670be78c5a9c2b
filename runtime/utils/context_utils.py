"""What custom agents put round the runs of other agents, under google-adk's name."""

from contextlib import aclosing as Aclosing

__all__ = ["Aclosing"]

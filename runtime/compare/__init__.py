"""A comparison of two sessions: which events correspond, and their differences. Pure."""

from runtime.compare.comparison import Comparison, Row, Totals, compare
from runtime.compare.event_differences import Difference, differences_of

__all__ = ["Comparison", "Difference", "Row", "Totals", "compare", "differences_of"]

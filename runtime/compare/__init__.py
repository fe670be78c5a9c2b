"""Two sessions side by side: which event of one stands for which of the other, and what is different. Pure."""

from runtime.compare.comparison import Comparison, Row, Totals, compare
from runtime.compare.differences import Difference, differences_of

__all__ = ["Comparison", "Difference", "Row", "Totals", "compare", "differences_of"]

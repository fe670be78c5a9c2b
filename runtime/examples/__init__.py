"""Examples of conversations, for instructions."""

from runtime.examples.base_example_provider import BaseExampleProvider
from runtime.examples.example import Example

__all__ = ["BaseExampleProvider", "Example"]

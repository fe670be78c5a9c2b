"""The base class of sources of examples."""

from __future__ import annotations

import abc

from runtime.examples.example import Example


class BaseExampleProvider(abc.ABC):
    """A source of examples that depend on the user's message."""

    @abc.abstractmethod
    def get_examples(self, query: str) -> list[Example]:
        """Return examples for a message.

        Args:
            query: the message's text.
        """

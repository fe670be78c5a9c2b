"""The contexts passed to callbacks, tools and instruction providers."""

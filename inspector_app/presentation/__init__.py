"""Events and values as text, without Qt."""

"""An app: a root agent with its plugins and whether its runs can be resumed."""

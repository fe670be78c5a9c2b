"""The session list: order, search, deletion."""

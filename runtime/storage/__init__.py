"""Session databases: their layouts, connections, reading, writing, and what other processes commit to them."""

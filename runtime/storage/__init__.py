"""Session databases: layouts, connections, reading, writing, and following the commits of other processes."""

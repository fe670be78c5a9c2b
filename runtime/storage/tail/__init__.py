"""Following of the commits that other processes make to a database."""

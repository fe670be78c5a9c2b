"""Table names, statements, and decoding of every database layout."""

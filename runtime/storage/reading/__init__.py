"""Read any session database without changing a byte of it."""

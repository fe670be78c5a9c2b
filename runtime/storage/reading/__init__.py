"""Reading of any session database without changing it."""

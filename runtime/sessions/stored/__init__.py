"""Reading databases that others wrote, without changing a byte of them."""

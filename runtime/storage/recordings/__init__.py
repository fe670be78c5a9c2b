"""Reading of recordings: what models were asked, and when."""

"""Records: one person's text with its fields, and the populations they are drawn from."""

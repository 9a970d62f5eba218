"""Judging: what a rewritten record still tells about a person, and what it still teaches."""

"""Scrubbing: identifiers found in texts, replaced, and what of them is left."""

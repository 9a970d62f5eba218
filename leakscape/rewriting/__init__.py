"""Rewriting: each record of a corpus told anew by a language model or by rules, none lost on the way."""

"""Masks identifiers in a corpus."""

"""Fails a run whose verdict is against the model."""

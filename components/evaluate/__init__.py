"""Measures what a model, with or without adapters, makes of secrets and of unseen records."""

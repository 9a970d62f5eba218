"""Scores what a model makes of secrets and records: spans, likelihoods, exposure."""

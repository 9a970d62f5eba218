"""Holds a landscape against a plan's gate and against the last audit."""

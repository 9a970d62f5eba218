"""Canaries: fabricated records with a planted secret and a multiplicity."""

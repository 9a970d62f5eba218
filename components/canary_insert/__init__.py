"""Plants canaries in a population."""

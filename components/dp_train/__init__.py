"""Fine-tunes a base model on a corpus with differential privacy."""

"""Language models: loading them, the form of their texts, their tokens."""

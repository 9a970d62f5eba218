"""Training: LoRA under each objective, with and without differential privacy."""

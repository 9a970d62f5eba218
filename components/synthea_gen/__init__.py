"""The component synthea-gen: train, held-out and exemplar populations."""

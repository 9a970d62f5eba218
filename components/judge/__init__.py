"""The component judge."""

"""The component preflight."""

"""The component rewrite-join."""

"""The component corpus-audit."""

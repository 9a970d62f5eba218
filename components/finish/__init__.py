"""The component finish."""

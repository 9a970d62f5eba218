"""Measurements of all conditions together, with intervals and ranks, and the page that shows them."""

"""landscape: measurements of all conditions together, as figures and as a page."""

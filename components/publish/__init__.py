"""Adds an audit to the history and writes its verdict in the forms that other systems read."""

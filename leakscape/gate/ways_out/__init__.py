"""A verdict in the forms that other systems read."""

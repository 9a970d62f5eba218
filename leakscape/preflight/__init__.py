"""What an audit needs before its first step: looked up at once, told at once."""

"""A crowd test of a running page: visitors of many kinds at once, some of whom misbehave."""

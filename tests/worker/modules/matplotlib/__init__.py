"""Stands in for matplotlib where it is not installed: just what shows how cells treat its figures."""

backend = "unset"


def use(name):
    global backend
    backend = name

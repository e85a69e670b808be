"""Command line: from a table in a file to a model, a table of results and a page."""

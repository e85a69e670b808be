"""Passes: the selected linear models, fitted to more rows than candidates are compared on."""

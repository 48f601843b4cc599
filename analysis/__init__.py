"""From a results folder to tables, effects and a page: `analysis.load("results", "norm").effects()`.

This package reads files and knows nothing of torch or of how trials were trained.
"""

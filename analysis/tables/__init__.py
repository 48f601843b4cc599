"""The record as tables of pandas. It imports `analysis.record`."""

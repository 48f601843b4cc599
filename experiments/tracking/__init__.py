"""MLflow as a live view of the record. It imports `lifecycle` and `analysis.record`."""

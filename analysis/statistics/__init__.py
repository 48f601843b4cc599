"""Effects, intervals, tests, power, rates and curves. It imports `analysis.tables` and `analysis.record`."""

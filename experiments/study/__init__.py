"""From settings to arms and trials: identity, checks, tuning, what is written before a run."""

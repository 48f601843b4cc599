"""Looking into a model from outside: traces, interventions, norms, costs. It imports the kinds of a trial."""

"""Train arms of a study, each as trials over several seeds, and keep the record."""

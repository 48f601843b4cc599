"""From numbers to sentences: judgements, verdicts, cautions, disclosures. It imports the rooms before it."""

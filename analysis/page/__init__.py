"""Pages, figures, tables for a paper, lines for a terminal. It imports the rooms before it."""

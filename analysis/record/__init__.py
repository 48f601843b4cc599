"""The results folder as one typed format. It imports nothing else of the project and no pandas: trials write it."""

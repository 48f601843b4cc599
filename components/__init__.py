"""The parts of a Transformer: every folder here is a kind, every file in it a part.

This package needs torch and the standard library, and knows nothing of training or analysis.
"""

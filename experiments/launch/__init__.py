"""Trials as processes on the devices of this machine. It imports `study`, `trial` and the rooms before them."""

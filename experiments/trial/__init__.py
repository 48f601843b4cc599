"""One trial: its process, its steps, its numbers. With the parts in use, this room is the code of a trial."""

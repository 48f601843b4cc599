"""The command line. The only room that may import all others."""

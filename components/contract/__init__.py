"""The promises that every registered part keeps. It imports the model's files, and none of them imports it."""

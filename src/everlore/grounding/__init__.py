"""Grounding: what an analyst says, held against the words that it says it rests on. Pure functions."""

"""Frozen values, ids, errors and closed unions. Imports the standard library only."""

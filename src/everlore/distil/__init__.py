"""Distil: the step that makes knowledge of what was said: windows, input filter, load, think, commit."""

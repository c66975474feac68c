"""Faces: how people and programs reach a memory. Thin: they parse, call the verbs of a `Workspace`, and show the answer."""

"""The verbs of a workspace: all that a face may call."""

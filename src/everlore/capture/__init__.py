"""Capture: accept messages, put them into their searchable form, and commit them with the work that they cause."""

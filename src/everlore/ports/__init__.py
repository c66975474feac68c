"""Protocols that adapters in `models/` fulfil. Each has one behavioural suite in the tests."""

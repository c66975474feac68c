"""Adapters of the ports. Heavy libraries are imported here only, and only when an adapter is first used."""

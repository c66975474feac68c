"""Encode: background steps that derive what can be searched and known from what was said."""

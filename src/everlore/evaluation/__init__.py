"""Benchmarks of memory as commands: how well does recall find what it should, on data that anybody can get."""

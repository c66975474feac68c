"""Recall: a question in, the few right turns out. plan, lanes, fuse, rerank, score, support.

Everything after the lanes is pure functions on plain values; `recall.py` runs the whole.
"""

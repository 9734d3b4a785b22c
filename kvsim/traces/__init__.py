"""Requests that were really made: files of them, and their replay.

``rows`` (what a row may be) -> ``trace_csv`` (a trace, and lengths drawn from it) -> ``replay``.
"""

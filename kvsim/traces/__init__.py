"""Requests that were really made: files of them, and their replay.

``rows`` (what a row may be) -> ``trace`` and ``lengths`` (to draw from) -> ``replay``.
"""

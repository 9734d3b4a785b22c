"""Answers about other servers than the plate's: what is asked, the work, and its addresses.

``asked`` (with ``asked_fields``, ``asked_axes``) -> ``job``, ``rows`` -> ``answering``, ``lanes``,
``kept`` -> ``facts``, ``handlers``.
"""

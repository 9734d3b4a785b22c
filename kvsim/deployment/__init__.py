"""A model in use on its GPUs: from a ``config.json`` to the bytes and tokens of its cache.

``presets``, ``config_json`` -> ``shape``, ``layers`` -> ``cache_layout`` -> ``cache_figures`` (what
fits) and ``served`` (a server for the simulation).
"""

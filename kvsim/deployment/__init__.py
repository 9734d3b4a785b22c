"""A model in use on its GPUs: from a ``config.json`` to the bytes and tokens of its cache.

``presets``, ``config_json`` (with ``config_keys``, ``config_layers``, ``config_parameters``) ->
``shape``, ``layers`` -> ``cache_layout`` -> ``cache_figures`` (what fits) and, on ``cards``,
``served`` (a server for the simulation).
"""

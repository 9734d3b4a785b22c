"""What vLLM and SGLang print about their cache when they start, as people paste it.

``text`` -> ``forms`` -> ``runs`` -> ``server_log``; ``capacity`` and ``remarks`` say what it means,
and ``facts`` has all of it as plain values.
"""

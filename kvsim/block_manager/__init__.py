"""A block manager with numbered blocks and their contents: block tables, copies, a prefix cache.

The simulation only counts blocks; this is what it counts. ``prefix_keys`` (what a block holds) ->
``pool`` (the blocks) -> ``tables`` -> ``swapping``.
"""

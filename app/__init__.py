"""The page: Panel, Bokeh and Param around what :mod:`kvsim` computes."""

"""What the page's further sections are given: their controls, words, figures and tables.

``controls`` is the one table of what can be set in them. Each section looks its position up in the
results and puts it into words: ``sharing_figure``, ``sharing_words`` -> ``sharing_page``;
``overcommit``, ``swap_figure``; ``paper_figure``; ``your_server``.
"""

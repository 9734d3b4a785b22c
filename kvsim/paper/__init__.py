"""What Kwon et al. (SOSP 2023) measured, simulated by their rules.

``published`` (their figures) -> ``experiments`` (figure 2 and its relatives), ``sharing`` (figures
15 and 16), ``figure_19`` -> ``text`` (all of it side by side).
"""

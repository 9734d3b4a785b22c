"""Results of the simulation for every position of the controls: made, kept and read.

``atlas_rows`` -> ``atlas_build`` -> ``atlas``, ``films``; ``overcommit_results``,
``sharing_results``, ``paper_store`` -> ``files`` (all that the page is made from). ``container``,
``fingerprint`` and ``build_lock`` are what all of them need.
"""

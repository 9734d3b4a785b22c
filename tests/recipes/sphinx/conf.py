"""A site made by Sphinx."""

project = "A lesson on memory"

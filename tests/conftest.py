"""What all tests share: this folder on the import path, and how Hypothesis reports."""

from hypothesis import settings

# A failure prints the line that repeats it; a busy machine is no failure.
settings.register_profile("kvsim", deadline=None, print_blob=True)
settings.load_profile("kvsim")

"""What Kwon et al. (SOSP 2023) measured, simulated by their rules."""

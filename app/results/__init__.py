"""Results of the simulation for every position of the controls: made, kept and read."""

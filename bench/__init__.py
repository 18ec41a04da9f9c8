"""The figures of the README: `make bench` measures them on the machine it runs on, as ratios in one run."""

"""A circle over a data set, with everything that measures it: the folder, the passes, the figures."""

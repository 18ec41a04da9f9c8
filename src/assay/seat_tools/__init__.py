"""Tools for seats: files, a search, Python in a box, servers of the user's; what models are told of them, and what
they answer.

A tool is a model: a request to ``tool:NAME`` goes the way of every call, so it is recorded, and a replay takes its
answer from the log.
"""

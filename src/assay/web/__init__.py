"""The local web application: every run, live and finished, from the same stories as the reports."""

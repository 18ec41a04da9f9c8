"""One HTTP client under every provider, and how it reads what others wrote: streams, failures, waits, secrets."""

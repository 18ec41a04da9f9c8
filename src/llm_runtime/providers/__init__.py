"""What makes a model function: each module turns an endpoint, a folder, a keyboard or a script into one."""

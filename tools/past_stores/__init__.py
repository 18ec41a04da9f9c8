"""Makes run stores by the code of past commits, so that tests can hold today's code to them."""

"""What the toolchains of compiled languages share: programs, packages, work copies, checks and tests in a box."""

"""What debates show when they are over: who clashes, who moved, what keeps coming back."""

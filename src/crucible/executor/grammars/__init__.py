"""The three loop grammars: who speaks when within one loop of a council."""

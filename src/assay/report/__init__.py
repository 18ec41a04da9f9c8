"""What a run tells a person: stories made from its events, and the renderers that show them."""

"""Players that plan: what may be drawn, what will be needed."""

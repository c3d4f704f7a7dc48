"""How agents learn: one file a method, each with its equation."""

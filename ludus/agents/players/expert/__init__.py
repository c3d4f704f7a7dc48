"""Players that plan ahead with hand-written rules."""

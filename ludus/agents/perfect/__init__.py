"""Players that never give away a result: the measure that all learning is held against."""

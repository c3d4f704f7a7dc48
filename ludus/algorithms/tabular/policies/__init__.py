"""Which action to try: a rule `choose` over a row of values, and `expected`, what the row is worth to who plays so."""

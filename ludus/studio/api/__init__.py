"""The routes of the studio, a file for each kind of thing; every one says what it does in a line."""

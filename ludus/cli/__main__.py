"""`python -m ludus.cli`."""

from ludus.cli import main

main()

"""Cards whose effects no row of the tables can describe: one module for each, or for a few that belong together.

`hooks` names the places where the engine calls them.
"""

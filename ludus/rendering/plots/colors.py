"""The colours of all plots: bright on a dark background."""

COLORS = ("#59c2ff", "#ffb454", "#3f9c66", "#fbff84", "#ff4900", "#a476f5", "#a8ffe0", "#f770af")
"""colours of curves: bright on the background, and distinguishable with colour blindness"""
BACKGROUND, GRID, AXIS, INK, TITLE = "#1e2430", "#2c3546", "#55617a", "#a9b3c4", "#e8eaed"

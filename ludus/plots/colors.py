"""The colours of all plots: bright on a dark ground."""

COLORS = ("#59c2ff", "#ffb454", "#3f9c66", "#fbff84", "#ff4900", "#a476f5", "#a8ffe0", "#f770af")
"""bright on the background, and apart from one another also for eyes that miss red, green or blue"""
BACKGROUND, GRID, AXIS, INK, TITLE = "#1e2430", "#2c3546", "#55617a", "#a9b3c4", "#e8eaed"

"""`/v0`: the inference API of the public project YGO Agent; its clients can play with agents served by Ludus."""

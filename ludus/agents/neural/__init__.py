"""Agents that are neural networks, and their use of JAX."""

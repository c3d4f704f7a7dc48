"""Agents as a service: `Service` serves loaded agents to many sessions; HTTP, WebSocket and clients are built on it."""

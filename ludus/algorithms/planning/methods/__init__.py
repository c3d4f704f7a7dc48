"""Planning methods: each module defines `plans(dynamics, gamma, tolerance)`, an iterator of `Stage`s."""

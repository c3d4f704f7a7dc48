"""Ways to plan: each module offers `plans(dynamics, gamma, tolerance)`, an iterator of `Stage`s."""

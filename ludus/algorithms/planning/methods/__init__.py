"""Ways to plan: each module offers `plans(dynamics, discount, tolerance)`, an iterator of `Stage`s."""

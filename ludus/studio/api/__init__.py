"""The routes of the studio, one module for each kind of resource."""

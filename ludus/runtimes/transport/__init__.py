"""What runtimes are made of: rounds of work, jobs as plain data, and arrays on their way between processes."""

"""Parts shared by the runtimes: rounds of work, jobs as plain data, shared memory and messages between processes."""

"""An MCP server: language models and their applications play games, ask for advice, train and evaluate agents."""

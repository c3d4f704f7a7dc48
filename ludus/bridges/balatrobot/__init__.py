"""BalatroBot, the JSON-RPC interface of a mod for the real Balatro: its methods, its JSON and ours, both ways."""

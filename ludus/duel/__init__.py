"""Tools for players of the duel, beside its rules: decks as .ydk files, replays as .yrp files, and both in words."""

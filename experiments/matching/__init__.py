"""Records of raw tables matched: two real pairs of tables, and persons made up with errors."""

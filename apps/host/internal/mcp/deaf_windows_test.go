package mcp_test

// deaf blocks for ever.
func deaf() { select {} }

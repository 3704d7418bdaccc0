package mcp_test

// deaf blocks forever.
func deaf() { select {} }

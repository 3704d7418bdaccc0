package cli

// startAgain does nothing: on Windows a program cannot replace itself within its process.
func startAgain(map[string]string) error { return nil }

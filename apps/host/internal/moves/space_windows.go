package moves

// freeSpace returns the bytes that are free on the disk of a folder; false if that is unknown.
func freeSpace(string) (uint64, bool) { return 0, false }

package file

import "os"

// renamesOpenFiles: on Windows a rename cannot replace an open file.
const renamesOpenFiles = false

func syncData(f *os.File) error { return f.Sync() }

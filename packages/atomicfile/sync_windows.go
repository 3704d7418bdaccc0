package atomicfile

import "os"

// syncDir does nothing: Windows has no sync of a folder.
func syncDir(string) error { return nil }

func syncRoot(*os.Root) error { return nil }

package atomicfile

import "os"

// syncDir does nothing: Windows cannot sync a folder.
func syncDir(string) error { return nil }

func syncRoot(*os.Root) error { return nil }

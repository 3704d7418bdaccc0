package cli

import "io/fs"

// ownerOf knows nobody: files of Windows do not belong to numbers.
func ownerOf(fs.FileInfo) (user, group int, known bool) { return 0, 0, false }

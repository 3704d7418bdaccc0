package file

import (
	"syscall"
	"unsafe"
)

// wantLargePages asks the kernel to back memory that was not touched yet with large
// pages: most of the time of reading a long file would go to one fault for each 4 KiB.
// It is only advice, and changes nothing of what the memory holds.
func wantLargePages(memory []byte) {
	const page = 4 << 10
	if len(memory) < 4<<20 {
		return
	}
	// The garbage collector moves nothing, so the address holds.
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(memory))) % page
	whole := (uintptr(len(memory)) - skip) / page * page
	_ = syscall.Madvise(memory[skip:skip+whole], syscall.MADV_HUGEPAGE)
}

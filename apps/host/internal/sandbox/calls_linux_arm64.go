package sandbox

import "golang.org/x/sys/unix"

// callTable returns the filter's system call numbers for this processor.
func callTable() (calls, bool) {
	return calls{arch: unix.AUDIT_ARCH_AARCH64, mknod: -1, other: map[string]int{"kexec_file_load": unix.SYS_KEXEC_FILE_LOAD}}, true
}

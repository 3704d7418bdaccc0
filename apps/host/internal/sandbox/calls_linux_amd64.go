package sandbox

import "golang.org/x/sys/unix"

// callTable returns the filter's system call numbers for this processor.
func callTable() (calls, bool) {
	return calls{
		arch: unix.AUDIT_ARCH_X86_64, x32: 0x40000000, mknod: unix.SYS_MKNOD,
		other: map[string]int{"kexec_file_load": unix.SYS_KEXEC_FILE_LOAD, "iopl": unix.SYS_IOPL, "ioperm": unix.SYS_IOPERM, "uselib": unix.SYS_USELIB, "_sysctl": unix.SYS__SYSCTL},
	}, true
}

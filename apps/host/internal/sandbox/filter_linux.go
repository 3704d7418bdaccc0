package sandbox

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data. All processors that callTable supports are little-endian:
// the lower half of an argument comes first.
const (
	offCall = 0
	offArch = 4
	offArgs = 16
)

// Return values of the filter.
const (
	retAllow = unix.SECCOMP_RET_ALLOW
	retEPERM = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	retNoSys = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	retKill  = unix.SECCOMP_RET_KILL_PROCESS
)

// newNamespaces are the flags of clone that create a namespace.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// Requests of ioctl that put input into a terminal, as if it were typed.
const (
	tiocsti   = 0x5412
	tioclinux = 0x541c
)

// calls are the system call numbers of one kind of processor.
type calls struct {
	arch  uint32         // AUDIT_ARCH_*
	x32   uint32         // flag of calls in a second numbering; 0 if there is none
	other map[string]int // calls that only some processors have; all are refused
	mknod int            // the old mknod; -1 if there is none
}

// refused lists the calls that would change the machine or the sandbox, by name. Reading
// clocks, and ptrace, are permitted: debuggers work on processes in the same sandbox, and
// Landlock keeps them from all others.
var refused = map[string]int{
	// Mounts and the root folder.
	"mount": unix.SYS_MOUNT, "umount2": unix.SYS_UMOUNT2, "pivot_root": unix.SYS_PIVOT_ROOT, "chroot": unix.SYS_CHROOT,
	"open_tree": unix.SYS_OPEN_TREE, "move_mount": unix.SYS_MOVE_MOUNT, "fsopen": unix.SYS_FSOPEN, "fsconfig": unix.SYS_FSCONFIG,
	"fsmount": unix.SYS_FSMOUNT, "fspick": unix.SYS_FSPICK, "mount_setattr": unix.SYS_MOUNT_SETATTR, "open_tree_attr": unix.SYS_OPEN_TREE_ATTR,
	"quotactl": unix.SYS_QUOTACTL, "quotactl_fd": unix.SYS_QUOTACTL_FD,
	// Keyrings, which belong to the host.
	"add_key": unix.SYS_ADD_KEY, "request_key": unix.SYS_REQUEST_KEY, "keyctl": unix.SYS_KEYCTL,
	// Files by handle, which bypasses every path check.
	"name_to_handle_at": unix.SYS_NAME_TO_HANDLE_AT, "open_by_handle_at": unix.SYS_OPEN_BY_HANDLE_AT,
	// Clocks and host names.
	"clock_settime": unix.SYS_CLOCK_SETTIME, "settimeofday": unix.SYS_SETTIMEOFDAY, "adjtimex": unix.SYS_ADJTIMEX,
	"clock_adjtime": unix.SYS_CLOCK_ADJTIME, "sethostname": unix.SYS_SETHOSTNAME, "setdomainname": unix.SYS_SETDOMAINNAME,
	// The kernel itself.
	"init_module": unix.SYS_INIT_MODULE, "finit_module": unix.SYS_FINIT_MODULE, "delete_module": unix.SYS_DELETE_MODULE,
	"kexec_load": unix.SYS_KEXEC_LOAD, "reboot": unix.SYS_REBOOT, "bpf": unix.SYS_BPF,
	"perf_event_open": unix.SYS_PERF_EVENT_OPEN, "userfaultfd": unix.SYS_USERFAULTFD, "swapon": unix.SYS_SWAPON,
	"swapoff": unix.SYS_SWAPOFF, "acct": unix.SYS_ACCT, "syslog": unix.SYS_SYSLOG, "lookup_dcookie": unix.SYS_LOOKUP_DCOOKIE,
	"vhangup": unix.SYS_VHANGUP, "nfsservctl": unix.SYS_NFSSERVCTL,
	// Another way to make system calls, which filters do not see.
	"io_uring_setup": unix.SYS_IO_URING_SETUP, "io_uring_enter": unix.SYS_IO_URING_ENTER, "io_uring_register": unix.SYS_IO_URING_REGISTER,
	// Namespaces; clone and unshare are checked by their flags.
	"setns": unix.SYS_SETNS,
}

// filterProgram assembles the filter for this processor.
func filterProgram() ([]bpf.RawInstruction, error) {
	table, ok := callTable()
	if !ok {
		return nil, fmt.Errorf("there is no system call filter for %s", runtime.GOARCH)
	}
	return bpf.Assemble(table.filter())
}

func (c calls) filter() []bpf.Instruction {
	p := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: c.arch, SkipTrue: 1},
		bpf.RetConstant{Val: retKill}, // call numbers of another processor have other meanings
		bpf.LoadAbsolute{Off: offCall, Size: 4},
	}
	if c.x32 != 0 {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: c.x32, SkipTrue: 1}, bpf.RetConstant{Val: retEPERM})
	}
	for _, table := range []map[string]int{refused, c.other} {
		for _, call := range sortedCalls(table) {
			p = append(p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: call, SkipTrue: 1}, bpf.RetConstant{Val: retEPERM})
		}
	}
	// The flags of clone3 are in memory, which a filter cannot read. Without the call,
	// libraries fall back to clone.
	p = append(p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_CLONE3, SkipTrue: 1}, bpf.RetConstant{Val: retNoSys})
	p = append(p, onArgument(unix.SYS_CLONE, 0, refuseBits(newNamespaces)...)...)
	p = append(p, onArgument(unix.SYS_UNSHARE, 0, refuseBits(newNamespaces|unix.CLONE_NEWTIME)...)...)
	// The kernel uses 32 bits of a request, so the upper half is irrelevant.
	p = append(p, onArgument(unix.SYS_IOCTL, 1, refuseValues(tiocsti, tioclinux)...)...)
	device := append([]bpf.Instruction{bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: unix.S_IFMT}}, refuseValues(unix.S_IFCHR, unix.S_IFBLK)...)
	p = append(p, onArgument(unix.SYS_MKNODAT, 2, device...)...)
	if c.mknod >= 0 {
		p = append(p, onArgument(c.mknod, 1, device...)...)
	}
	return append(p, bpf.RetConstant{Val: retAllow})
}

// onArgument checks one argument of a call, with its lower half loaded. For other calls it
// falls through with the call number loaded.
func onArgument(call, argument int, judge ...bpf.Instruction) []bpf.Instruction {
	skip := uint8(len(judge) + 2)
	p := []bpf.Instruction{
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(call), SkipTrue: skip},
		bpf.LoadAbsolute{Off: uint32(offArgs + 8*argument), Size: 4},
	}
	return append(append(p, judge...), bpf.RetConstant{Val: retAllow})
}

func refuseBits(bits uint32) []bpf.Instruction {
	return []bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: bits, SkipTrue: 1}, bpf.RetConstant{Val: retEPERM}}
}

func refuseValues(values ...uint32) (p []bpf.Instruction) {
	for _, v := range values {
		p = append(p, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: v, SkipTrue: 1}, bpf.RetConstant{Val: retEPERM})
	}
	return p
}

// installFilter installs the filter on this thread, and on everything that it executes and
// starts.
func installFilter() error {
	program, err := filterProgram()
	if err != nil {
		return err
	}
	code := make([]unix.SockFilter, 0, len(program))
	for _, i := range program {
		code = append(code, unix.SockFilter{Code: i.Op, Jt: i.Jt, Jf: i.Jf, K: i.K})
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("disabling new privileges: %w", err)
	}
	prog := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return fmt.Errorf("filtering system calls: %w", errno)
	}
	runtime.KeepAlive(code)
	return nil
}

// filterFile returns the filter in the format of bubblewrap, in a file that a program
// started by exec inherits.
func filterFile() (*os.File, error) {
	program, err := filterProgram()
	if err != nil {
		return nil, err
	}
	var data []byte
	for _, i := range program {
		data = binary.LittleEndian.AppendUint16(data, i.Op)
		data = append(data, i.Jt, i.Jf)
		data = binary.LittleEndian.AppendUint32(data, i.K)
	}
	fd, err := unix.MemfdCreate("filter", 0)
	if err != nil {
		return nil, fmt.Errorf("storing the system call filter: %w", err)
	}
	file := os.NewFile(uintptr(fd), "filter")
	if _, err = file.Write(data); err == nil {
		_, err = file.Seek(0, 0)
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("storing the system call filter: %w", err)
	}
	return file, nil
}

func sortedCalls(table map[string]int) []uint32 {
	var numbers []uint32
	for _, call := range table {
		numbers = append(numbers, uint32(call))
	}
	slices.Sort(numbers)
	return numbers
}

package tool

import (
	"errors"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openUnlinked opens a path without links; errMoved means that an element is a link. It
// does not wait for the other end of a pipe.
func openUnlinked(path string) (*os.File, error) {
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), path), nil
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case errors.Is(err, unix.ELOOP):
			return nil, errMoved
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM): // an old kernel, or a system call filter
			return openAndCompare(path)
		}
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
}

// openAndCompare replaces openat2 on kernels without it: it compares path with the path of
// the opened file.
func openAndCompare(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	if there, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(file.Fd()))); err != nil || there != path {
		return nil, errors.Join(errMoved, file.Close())
	}
	return file, nil
}

// Magic numbers of kernel file systems, as returned by statfs.
const (
	securityFS = 0x73636673
	configFS   = 0x62656570
)

// ofKernel reports whether a file belongs to the kernel. Reading such a file may block
// forever, have side effects, or expose other processes.
func ofKernel(file *os.File) bool {
	var stat unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &stat); err != nil {
		return true
	}
	switch int64(stat.Type) {
	case unix.PROC_SUPER_MAGIC:
		return !openTable.MatchString(file.Name())
	case unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.BPF_FS_MAGIC, securityFS, configFS:
		return true
	}
	return false
}

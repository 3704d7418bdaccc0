package host

import "golang.org/x/sys/windows"

// stillActive is the exit code of a process that runs.
const stillActive = 259

// Ended reports whether a process of this machine has ended.
func Ended(pid int) bool {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return true
	}
	defer windows.CloseHandle(process)
	var code uint32
	return windows.GetExitCodeProcess(process, &code) == nil && code != stillActive
}

package permission

import (
	pathpkg "path"
	"regexp"
	"slices"
	"strings"
)

// systemFolders are never deleted or changed as a whole.
var systemFolders = []string{
	"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/opt", "/proc", "/root", "/run", "/sbin", "/srv", "/sys", "/usr",
	"/var", "/Users", "/System", "/Library", "/Applications",
}

var (
	disk      = regexp.MustCompile(`^/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|md|dm-|loop|mapper/|mem|kmem|port)`)
	silent    = regexp.MustCompile(`^/dev/(null|zero|full|stdin|stdout|stderr|fd/[0-9]+)$`) // opening it changes nothing
	harmless  = regexp.MustCompile(`^/dev/(null|zero|full|stdin|stdout|stderr|tty|ptmx|(fd|pts|shm)/.*)$`)
	stopping  = []string{"shutdown", "reboot", "halt", "poweroff", "telinit", "killall5"}
	stopUnits = []string{"poweroff", "reboot", "halt", "kexec", "rescue", "emergency", "suspend", "hibernate", "exit"}
	wiping    = []string{"mkswap", "wipefs", "sfdisk", "fdisk", "parted", "sgdisk", "blkdiscard", "cryptsetup"}
	copying   = []string{"cp", "mv", "tee", "ln", "install", "dd", "shred", "rsync", "truncate"}
)

// floorOfScript returns why a command line must never run, or "".
func (p Policy) floorOfScript(s *script) string {
	if s.bomb {
		return "it defines a function that calls itself endlessly"
	}
	for _, c := range s.commands {
		if why := p.floorOfCommand(c); why != "" {
			return why
		}
	}
	for _, d := range s.redirects {
		paths, _ := p.leads(d.dir, d.target)
		for _, full := range paths {
			if why := p.floorOfRedirect(d, full); why != "" {
				return why
			}
		}
	}
	return ""
}

func (p Policy) floorOfRedirect(d redirect, full string) string {
	switch {
	case p.closed(full) && (d.writes || !p.readable(full)):
		return "it touches scorel's own keys, settings or logs"
	case !d.writes:
	case strings.HasPrefix(full, "/dev/") && !harmless.MatchString(full), full == "/proc/sysrq-trigger":
		return "it writes to a device"
	case gitHooks(full):
		return "it writes to .git/hooks, which git runs"
	}
	return ""
}

func (p Policy) floorOfCommand(c command) string {
	name, args := base(c.words[0].text), c.plain()[1:]
	operand := operands(args)
	switch {
	case slices.Contains(stopping, name),
		name == "init" && (slices.Contains(args, "0") || slices.Contains(args, "6")),
		name == "systemctl" && slices.ContainsFunc(operand, func(a string) bool { return slices.Contains(stopUnits, strings.TrimSuffix(a, ".target")) }):
		return "it stops the machine"
	case name == "kill" && len(args) > 0 && args[len(args)-1] == "-1":
		return "it kills every process"
	case strings.HasPrefix(name, "mkfs"), slices.Contains(wiping, name) && slices.ContainsFunc(args, disk.MatchString):
		return "it overwrites a disk"
	case slices.Contains(copying, name) && slices.ContainsFunc(args, func(a string) bool { return disk.MatchString(strings.TrimPrefix(a, "of=")) && a != "if="+a }):
		return "it writes to a device"
	case p.destroys(name, args, c.dir):
		return "it deletes or changes a whole system folder, or the home folder"
	}
	return p.floorOfPaths(c, name)
}

// destroys reports whether a command deletes or opens up a folder that the machine or its
// user depends on.
func (p Policy) destroys(name string, args []string, dir string) bool {
	deep := has(args, 'r', "--recursive") || has(args, 'R')
	switch name {
	case "rm":
		if slices.Contains(args, "--no-preserve-root") {
			return true
		}
		deep = true
	case "find":
		deep = slices.Contains(args, "-delete")
	case "mv", "shred", "rmdir":
		deep = true
	case "chmod", "chown", "chgrp":
	default:
		return false
	}
	return deep && slices.ContainsFunc(operands(args), func(a string) bool { return p.vital(dir, a) })
}

func (p Policy) vital(dir, path string) bool {
	if dir == "" && !strings.HasPrefix(path, "/") {
		return false // the folder is unknown, so the call asks
	}
	for {
		trimmed := strings.TrimRight(path, "/")
		cut := strings.TrimSuffix(strings.TrimSuffix(trimmed, "/*"), "/.*")
		if cut == trimmed {
			break
		}
		path = cut + "/"
	}
	if path == "*" || path == ".*" {
		path = "."
	}
	full := p.located(dir, path)
	fits := func(folder string) bool {
		matched, err := pathpkg.Match(full, folder) // rm -rf /u*
		return err == nil && matched
	}
	return slices.ContainsFunc(systemFolders, fits) || full == p.Home || p.Home != "" && (within(full, p.Home) || fits(p.Home))
}

// floorOfPaths returns why a command must not touch the paths that it names, or "".
func (p Policy) floorOfPaths(c command, name string) string {
	reads := onlyReads(c)
	for i, w := range c.words[1:] {
		candidates := pathsIn(w)
		for _, text := range []string{after(w.text, "="), after(w.text, "/"), after(w.text, "~")} {
			candidates = append(candidates, pathsIn(word{text: text, kind: w.kind})...)
		}
		for _, candidate := range candidates {
			if candidate.text == "" || name == "echo" || name == "printf" {
				continue
			}
			paths, _ := p.leads(c.dir, candidate)
			for _, full := range paths {
				switch {
				case p.closed(full) && !(p.readable(full) && (reads || !changes(c, i+1))):
					return "it touches scorel's own keys, settings or logs"
				case gitHooks(full) && !reads && slices.Contains(append(copying, "sed", "chmod", "touch", "git", "patch"), name):
					return "it writes to .git/hooks, which git runs"
				}
			}
		}
	}
	return ""
}

// changes reports whether a command is known to change what its i-th word names. Programs
// that it runs are left to the sandbox.
func changes(c command, i int) bool {
	name, args := base(c.words[0].text), c.plain()
	switch {
	case name == "cp" || name == "rsync" || name == "install": // the others are read
		return i == len(args)-1 || strings.HasPrefix(args[i], "-") || strings.HasPrefix(args[i-1], "-t") || args[i-1] == "--target-directory"
	case slices.Contains(copying, name), slices.Contains(deletes, name), slices.Contains(rights, name):
		return true
	}
	return slices.Contains([]string{
		"touch", "mkdir", "sed", "git", "patch", "find", "ed", "ex", "vi", "vim", "nano", "emacs", "tar", "unzip", "curl", "wget", "mkfifo", "mknod", "sort",
	}, name)
}

// after returns the text after the first mark in an option, including the mark if it begins
// a path. It returns "" if the word is not an option or does not contain the mark.
func after(text, mark string) string {
	i := strings.Index(text, mark)
	if i <= 0 {
		return ""
	}
	if mark == "=" {
		return text[i+1:]
	}
	if !strings.HasPrefix(text, "-") {
		return ""
	}
	return text[i:]
}

package doctor

import (
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Sandbox describes what confines an agent's commands on a host, and configured
// restrictions that do not apply: one sentence each. The first is always present unless the
// host reports nothing.
func Sandbox(info api.HostInfo) []string {
	if info.Sandbox == "" {
		return nil
	}
	lines := held(info)
	switch {
	case !info.RunsAsRoot:
	case strings.HasPrefix(info.Sandbox, "bubblewrap"):
		lines = append(lines, "the host runs as root: run it as an ordinary user")
	default:
		lines = append(lines, "the host runs as root without a strong sandbox, so the mode auto asks about every command that does more than read: run it as an ordinary user")
	}
	return lines
}

// held describes what confines commands, and what they can reach nevertheless.
func held(info api.HostInfo) []string {
	limits := info.SandboxLimits
	if limits == nil {
		return []string{withNote(info.Sandbox+": commands can do what you can", info.SandboxNote)}
	}
	lines := []string{
		withNote(info.Sandbox, info.SandboxNote),
		"the network is " + networkWords(limits.Network),
		"commands can write to the project" + andFolders(limits.Writable),
	}
	for _, path := range limits.Missing {
		lines = append(lines, fmt.Sprintf("%s, where commands may write, does not exist: create it if they need it", path))
	}
	for _, path := range limits.Exposed {
		lines = append(lines, fmt.Sprintf("commands can change %s, with scorel's keys: it is in a writable folder, and only bubblewrap can hide it", path))
	}
	return lines
}

func withNote(text, note string) string {
	if note == "" {
		return text
	}
	return text + " (" + note + ")"
}

func networkWords(network string) string {
	switch network {
	case "closed":
		return "closed"
	case "no_tcp":
		return "closed for TCP only: Landlock alone cannot block more"
	case "open":
		return "open"
	}
	return network
}

func andFolders(folders []string) string {
	if len(folders) == 0 {
		return " only"
	}
	return ", " + strings.Join(folders, ", ")
}

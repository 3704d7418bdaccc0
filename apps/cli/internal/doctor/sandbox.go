package doctor

import (
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Sandbox tells people what holds the commands of an agent back on a host, and what
// does not though it was asked for: one sentence each, the first always there but
// for a host that tells nothing.
func Sandbox(info api.HostInfo) []string {
	if info.Sandbox == "" {
		return nil
	}
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
		lines = append(lines, fmt.Sprintf("%s is in sandbox.writable and not there", path))
	}
	for _, path := range limits.Exposed {
		lines = append(lines, fmt.Sprintf("commands can change %s, with scorel's keys: it lies in a writable folder, and only bubblewrap would hide it", path))
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
		return "closed for TCP only: Landlock alone can cut off no more"
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

// Package state manages what a host stores under SCOREL_HOME besides its sessions: paths,
// the lock, config.toml, the projects, the clients, and the file that tells the local
// command line how to reach the running host.
package state

import "path/filepath"

// Paths names the files under one home.
type Paths struct{ Home string }

func (p Paths) Identity() string      { return filepath.Join(p.Home, "identity.json") }
func (p Paths) Entry() string         { return filepath.Join(p.Home, "entry.json") }
func (p Paths) Secrets() string       { return filepath.Join(p.Home, "secrets.json") }
func (p Paths) Config() string        { return filepath.Join(p.Home, "config.toml") }
func (p Paths) Models() string        { return filepath.Join(p.Home, "models.json") }
func (p Paths) Name() string          { return filepath.Join(p.Home, "name.json") }
func (p Paths) Projects() string      { return filepath.Join(p.Home, "projects.json") }
func (p Paths) Clients() string       { return filepath.Join(p.Home, "clients.json") }
func (p Paths) Allowed() string       { return filepath.Join(p.Home, "permissions.json") }
func (p Paths) Trust() string         { return filepath.Join(p.Home, "trust.json") }
func (p Paths) Tokens() string        { return filepath.Join(p.Home, "tokens.json") }
func (p Paths) Sessions() string      { return filepath.Join(p.Home, "sessions") }
func (p Paths) Blobs() string         { return filepath.Join(p.Home, "blobs") }
func (p Paths) Index() string         { return filepath.Join(p.Home, "index.db") }
func (p Paths) Lock() string          { return filepath.Join(p.Home, "run", "host.lock") }
func (p Paths) Run() string           { return filepath.Join(p.Home, "run", "host.json") }
func (p Paths) Commands() string      { return filepath.Join(p.Home, "run", "commands") }
func (p Paths) MCP() string           { return filepath.Join(p.Home, "mcp.json") }
func (p Paths) Servers() string       { return filepath.Join(p.Home, "servers.json") }
func (p Paths) SignIns() string       { return filepath.Join(p.Home, "sign-ins.json") }
func (p Paths) Switches() string      { return filepath.Join(p.Home, "switches.json") }
func (p Paths) Budgets() string       { return filepath.Join(p.Home, "budgets.json") }
func (p Paths) Schedules() string     { return filepath.Join(p.Home, "schedules") }
func (p Paths) Push() string          { return filepath.Join(p.Home, "push.json") }
func (p Paths) PushKey() string       { return filepath.Join(p.Home, "push.pem") }
func (p Paths) Process() string       { return filepath.Join(p.Home, "process") }
func (p Paths) GitAside() string      { return filepath.Join(p.Home, "git-aside") }
func (p Paths) Worktrees() string     { return filepath.Join(p.Home, "worktrees.json") }
func (p Paths) GitViews() string      { return filepath.Join(p.Home, "run", "git") }
func (p Paths) Moves() string         { return filepath.Join(p.Home, "moves") }
func (p Paths) Moved() string         { return filepath.Join(p.Home, "moved") }
func (p Paths) Mover() string         { return filepath.Join(p.Home, "mover.json") }
func (p Paths) Extensions() string    { return filepath.Join(p.Home, "extensions") }
func (p Paths) ExtensionList() string { return filepath.Join(p.Home, "extensions.json") }
func (p Paths) Memory() string        { return filepath.Join(p.Home, "memory") }

// Readable returns the parts of the home that an agent may read and run but not change:
// what the user wrote for it, its notes, and the copies of extensions.
func (p Paths) Readable() []string {
	return []string{filepath.Join(p.Home, "skills"), filepath.Join(p.Home, "agents"), filepath.Join(p.Home, "AGENTS.md"), p.Memory(), p.Extensions()}
}

// Scratch returns the folder for one session's long output and task list.
func (p Paths) Scratch(sessionID string) string { return filepath.Join(p.Home, "scratch", sessionID) }

// Changes returns the folder with the state of a session's folder before its first turn.
func (p Paths) Changes(sessionID string) string { return filepath.Join(p.Home, "changes", sessionID) }

// Channels is the folder with a file for each chat channel.
func (p Paths) Channels() string { return filepath.Join(p.Home, "channels") }

// Served is the folder with a file for each chat platform that is served to other programs.
func (p Paths) Served() string { return filepath.Join(p.Home, "served") }

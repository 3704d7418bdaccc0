package session

// Custom types for the project context of a session. They are written once, at its
// first turn, so that a resumed session has the same context.
const (
	CustomInstructions = "scorel.instructions" // data: Instructions
	CustomSkills       = "scorel.skills"       // data: Skills
	CustomEnvironment  = "scorel.environment"  // data: Environment
	CustomMemory       = "scorel.memory"       // data: Memory
)

// Scopes of skills and notes.
const (
	ScopeProject = "project"
	ScopeUser    = "user"
	// ScopeExtension is a skill or command of an extension, named EXTENSION:NAME.
	ScopeExtension = "extension"
)

type (
	// InstructionFile is one AGENTS.md, or an alternative file in its place.
	InstructionFile struct {
		Path    string `json:"path"` // absolute
		Content string `json:"content"`
		// Truncated is true if only the beginning fits into the limit for all
		// files.
		Truncated bool `json:"truncated,omitempty"`
	}
	// Instructions is the data of CustomInstructions: the user's file, then those
	// of the folders from the repository's root to the working folder.
	Instructions struct {
		Files []InstructionFile `json:"files"`
		Notes []string          `json:"notes,omitempty"` // what was left out, for people
	}
	// SkillInfo is a skill as listed in the catalog.
	SkillInfo struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Path        string `json:"path"`  // absolute, of its SKILL.md, or of the file of a command
		Scope       string `json:"scope"` // ScopeProject, ScopeUser or ScopeExtension
		// Manual means that the model is not offered the skill.
		Manual bool `json:"manual,omitempty"`
	}
	// Skills is the data of CustomSkills, by name.
	Skills struct {
		Skills []SkillInfo `json:"skills"`
		Notes  []string    `json:"notes,omitempty"` // omitted or unusual skills, for people
	}
	// MemoryNote is a note as the session was given it: with its text, or else its title.
	MemoryNote struct {
		Name  string `json:"name"`
		Scope string `json:"scope"` // ScopeProject or ScopeUser
		Text  string `json:"text,omitempty"`
		Title string `json:"title,omitempty"`
	}
	// Memory is the data of CustomMemory: a bounded selection of the notes of earlier
	// sessions, newest first, and the end of the project's journal.
	Memory struct {
		Notes   []MemoryNote `json:"notes"`
		Omitted int          `json:"omitted,omitempty"` // notes that did not fit
		Journal string       `json:"journal,omitempty"` // lines
	}
	// Environment is the data of CustomEnvironment: the environment at the
	// beginning of the session. Unknown values are "".
	Environment struct {
		OS        string `json:"os"`
		Shell     string `json:"shell,omitempty"`
		Folder    string `json:"folder"` // absolute
		GitBranch string `json:"gitBranch,omitempty"`
		// GitStatus is the bounded output of git status in short form; empty for a
		// clean tree.
		GitStatus []string `json:"gitStatus,omitempty"`
		GitClean  bool     `json:"gitClean,omitempty"`
		Date      string   `json:"date"`     // YYYY-MM-DD
		TimeZone  string   `json:"timeZone"` // name and offset from UTC
	}
)

package session

// Custom types of what a session was told of its folder. They are written once, at
// its first turn, so that a session that is resumed sees what it saw.
const (
	CustomInstructions = "scorel.instructions" // data: Instructions
	CustomSkills       = "scorel.skills"       // data: Skills
)

// Where a skill comes from.
const (
	ScopeProject = "project"
	ScopeUser    = "user"
)

type (
	// InstructionFile is one AGENTS.md, or a file of another name in its place.
	InstructionFile struct {
		Path    string `json:"path"` // absolute
		Content string `json:"content"`
		// Truncated is true when only the beginning fits into the limit of all files.
		Truncated bool `json:"truncated,omitempty"`
	}
	// Instructions is the data of CustomInstructions: the user's file, and then
	// those of the folders from the repository's root to the working folder.
	Instructions struct {
		Files []InstructionFile `json:"files"`
		Notes []string          `json:"notes,omitempty"` // what was left out, for people
	}
	// SkillInfo is what the catalog tells of a skill.
	SkillInfo struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Path        string `json:"path"`  // absolute, of its SKILL.md
		Scope       string `json:"scope"` // ScopeProject or ScopeUser
		// Manual says that the model is not offered it.
		Manual bool `json:"manual,omitempty"`
	}
	// Skills is the data of CustomSkills, by name.
	Skills struct {
		Skills []SkillInfo `json:"skills"`
		Notes  []string    `json:"notes,omitempty"` // what was left out or is odd, for people
	}
)

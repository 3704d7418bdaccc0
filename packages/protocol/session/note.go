package session

// CustomNote is the custom type of a custom_message entry that holds a message from
// the host to the model. Its content is the text, its details are a NoteRecord, and
// people see it too.
const CustomNote = "scorel.note" // details: NoteRecord

// NoteKind is the subject of a note.
type NoteKind string

const (
	NoteJobs         NoteKind = "jobs"         // background commands that ended
	NoteTodos        NoteKind = "todos"        // open todos, after a compaction
	NoteInstructions NoteKind = "instructions" // of a folder below the working folder
	NoteSkill        NoteKind = "skill"        // a skill that a prompt called by name
	NoteSkills       NoteKind = "skills"       // skills that appeared or became trusted after the session began
	NoteLimit        NoteKind = "limit"        // the last model call of a turn
	NoteWorktree     NoteKind = "worktree"     // what happened to the worktree of the session before the turn
	NoteHook         NoteKind = "hook"         // what a hook adds
	NoteMoved        NoteKind = "moved"        // the session arrived from another host
	NoteServer       NoteKind = "mcp"          // a resource or prompt of an MCP server that a prompt named
)

type (
	// Note is a message from the host to the model.
	Note struct {
		Kind NoteKind
		Text string
		// Paths are the absolute paths of the files that the text comes from.
		Paths []string
		// Jobs are the background jobs whose end the text reports.
		Jobs []string
		// Wakes means that a turn begins for this note if none is running.
		Wakes bool
	}
	// NoteRecord is the details of a note's entry.
	NoteRecord struct {
		Kind   NoteKind `json:"kind"`
		Paths  []string `json:"paths,omitempty"` // files that the text comes from
		Jobs   []string `json:"jobs,omitempty"`  // jobs whose end the text reports
		Wakes  bool     `json:"wakes,omitempty"` // a turn begins for it, if none is running
		TurnID string   `json:"turnId,omitempty"`
	}
)

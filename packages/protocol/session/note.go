package session

// CustomNote is the custom type of a custom_message entry that holds what the host
// tells the model beside the conversation. Its content is the text, its details are a
// NoteRecord, and people see it too.
const CustomNote = "scorel.note"

// NoteKind says what a note is about.
type NoteKind string

const (
	NoteJobs         NoteKind = "jobs"         // background commands that ended
	NoteTodos        NoteKind = "todos"        // what is still to be done, after a compaction
	NoteInstructions NoteKind = "instructions" // of a folder below the working folder
	NoteSkill        NoteKind = "skill"        // that a prompt called by its name
	NoteLimit        NoteKind = "limit"        // the last model call of a turn
)

type (
	// Note is what the host tells the model.
	Note struct {
		Kind NoteKind
		Text string
		// Paths are the files that the text is from, absolute.
		Paths []string
		// Jobs are the background jobs whose end the text tells.
		Jobs []string
	}
	// NoteRecord is the details of the entry of a note.
	NoteRecord struct {
		Kind   NoteKind `json:"kind"`
		Paths  []string `json:"paths,omitempty"` // of the files that the text is from
		Jobs   []string `json:"jobs,omitempty"`  // whose end the text tells
		TurnID string   `json:"turnId,omitempty"`
	}
)

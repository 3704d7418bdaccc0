package api

type (
	// ListSkillsRequest requests the skills that a prompt in a project can call by
	// name; "" means the user's own.
	ListSkillsRequest struct {
		ProjectID string `json:"projectId,omitempty" req:"max=256"`
	}
	ListSkillsResponse struct {
		Skills []Skill  `json:"skills"`          // by name
		Notes  []string `json:"notes,omitempty"` // omitted or unusual skills, for people
	}
	// Skill is a skill that a prompt can call.
	Skill struct {
		Name        string `json:"name"`             // what follows the slash in a prompt
		Description string `json:"description"`      // its beginning, at most 300 characters
		Scope       string `json:"scope"`            // "project" or "user"
		Manual      bool   `json:"manual,omitempty"` // the model is not offered it; only people call it
		Path        string `json:"path,omitempty"`   // path of its file; absent from an older host
		// Disabled says that people disabled it: no prompt and no model can use it.
		Disabled bool `json:"disabled,omitempty"`
	}
	// SetSkillEnabledRequest disables or enables a skill from the next turn on, in a
	// project or in every project. The setting of a project comes first.
	SetSkillEnabledRequest struct {
		ProjectID string `json:"projectId,omitempty" req:"max=256"` // "" means every project
		Name      string `json:"name" req:"min=1,max=256"`
		Enabled   bool   `json:"enabled"`
	}
	SkillResponse struct {
		Skill Skill `json:"skill"`
	}
	// GetSkillRequest requests the text of a skill as it is now.
	GetSkillRequest struct {
		ProjectID string `json:"projectId,omitempty" req:"max=256"` // "" means the user's own
		Name      string `json:"name" req:"min=1,max=256"`
	}
	GetSkillResponse struct {
		Skill Skill  `json:"skill"`
		Text  string `json:"text"` // Markdown, without the front matter
	}
)

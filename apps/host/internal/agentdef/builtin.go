package agentdef

// General is the name of the agent that gets a task if none is named.
const General = "general"

// Builtin returns the built-in agents, sorted by name.
func Builtin() []Agent {
	return []Agent{
		{
			Name: "explore", Scope: ScopeBuiltin,
			Description: "Finds out how something works or where it is, and changes nothing. Good for searches in many files that would fill your context.",
			Tools:       []string{"glob", "grep", "list_dir", "read_file", "read_skill", "todo"},
			Body: "You look and report; you cannot change anything. Search broadly first, then read what matters. " +
				"Support your answer with the path and lines of each file, and say what you looked for and did not find.",
		},
		{
			Name: General, Scope: ScopeBuiltin,
			Description: "Does a task of several steps on its own, with all of your tools except delegating. Good for work that does not depend on what you do in the meantime.",
			Body: "Work on the task until it is done, and check the result before you report. " +
				"List every file that you changed. Other agents may work in the same folder: change nothing that the task does not ask for.",
		},
	}
}

package preset

// General is the name of the agent that gets a task when none is named.
const General = "general"

// Builtin returns the agents that are always there, by name.
func Builtin() []Agent {
	return []Agent{
		{
			Name: "explore", Scope: ScopeBuiltin,
			Description: "Finds out how something works or where it is, and changes nothing. Good for searches in many files whose output would fill your context.",
			Tools:       []string{"glob", "grep", "list_dir", "read_file", "read_skill", "todo"},
			Body: "You look and report; you cannot change anything. Search broadly first, then read what matters. " +
				"Name every file that carries your answer with its path and lines, and say what you looked for and did not find.",
		},
		{
			Name: General, Scope: ScopeBuiltin,
			Description: "Does a task of several steps on its own, with all the tools that you have but for delegating. Good for work that does not depend on what you do meanwhile.",
			Body: "Work on the task until it is done, and check the result before you report. " +
				"Name every file that you changed. Other agents may work in the same folder: change nothing that the task does not ask for.",
		},
	}
}

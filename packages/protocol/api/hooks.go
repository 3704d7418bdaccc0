package api

// HookEvent is a moment at which hooks run.
type HookEvent string

const (
	HookSessionStart HookEvent = "session_start" // before the first prompt of a session
	HookPrompt       HookEvent = "prompt"        // before a prompt is given to the model
	HookBeforeTool   HookEvent = "before_tool"   // before a tool call runs
	HookAfterTool    HookEvent = "after_tool"    // after a tool call ran
	HookApproval     HookEvent = "approval"      // when a call waits for a person
	HookTurnEnd      HookEvent = "turn_end"      // after a turn
	HookCompaction   HookEvent = "compaction"    // when a compaction begins
	HookNotification HookEvent = "notification"  // when something waits for a person
)

// HookEvents lists the events in the order in which they occur.
func HookEvents() []HookEvent {
	return []HookEvent{HookSessionStart, HookPrompt, HookBeforeTool, HookApproval, HookAfterTool, HookNotification, HookCompaction, HookTurnEnd}
}

// HookState is whether a hook runs.
type HookState string

const (
	HookReady        HookState = "ready"
	HookDisabled     HookState = "disabled"      // config.toml says so
	HookUntrusted    HookState = "untrusted"     // its folder is not trusted
	HookNeedsConsent HookState = "needs_consent" // not approved or denied as it is now
	HookDenied       HookState = "denied"
	HookFailed       HookState = "failed" // it cannot be used
)

// HookOutcome is what a run of a hook led to.
type HookOutcome string

const (
	HookNothing HookOutcome = "nothing" // it ran and had no objection
	HookAdded   HookOutcome = "added"   // it added context
	HookAsked   HookOutcome = "asked"   // a person must decide about the call
	HookRefused HookOutcome = "denied"  // it denied the call, or blocked the prompt
	HookBroken  HookOutcome = "failed"  // it hung, crashed, or its answer was not valid
)

type (
	// Hook is a command that runs at an event.
	Hook struct {
		ID    string    `json:"id"`
		Name  string    `json:"name,omitempty"`
		Event HookEvent `json:"event"`
		// Source is the file that configures it: "config.toml", or a file of the project.
		Source string `json:"source"`
		// Declared is the name of the event in that file.
		Declared string `json:"declared"`
		// Matcher limits it to tools, or to causes of the event; "" means all.
		Matcher string `json:"matcher,omitempty"`
		Command string `json:"command"`
		// Files are files of the project that the command names. A change of one needs
		// new consent.
		Files          []string `json:"files,omitempty"`
		TimeoutSeconds int      `json:"timeoutSeconds"`
		// Sandbox is the sandbox that it runs in, as in HostInfo.Sandbox.
		Sandbox string `json:"sandbox"`
		// Hash identifies what needs consent; "" if none is needed.
		Hash  string    `json:"hash,omitempty"`
		State HookState `json:"state"`
		// Reason is why it does not run, for people.
		Reason string `json:"reason,omitempty"`
		// Last is its last run since the host started.
		Last *HookRun `json:"last,omitempty"`
	}
	// HookRun is the result of one run.
	HookRun struct {
		At         int64       `json:"at"` // Unix milliseconds
		DurationMs int64       `json:"durationMs"`
		Outcome    HookOutcome `json:"outcome"`
		// Text is the reason, the added context or the fault, for people.
		Text string `json:"text,omitempty"`
	}

	ListHooksRequest struct {
		ProjectID string `json:"projectId,omitempty" req:"max=256"` // "" means those of config.toml
	}
	ListHooksResponse struct {
		Hooks []Hook `json:"hooks"`
		// Problems are sentences about the configuration as a whole.
		Problems []string `json:"problems,omitempty"`
	}
	// DecideHookRequest allows or denies a hook of a project. It is refused with conflict
	// if Hash is not that of the current configuration.
	DecideHookRequest struct {
		ProjectID string `json:"projectId" req:"min=1,max=256"`
		ID        string `json:"id" req:"min=1,max=64"`
		Hash      string `json:"hash" req:"max=256"`
		Allow     bool   `json:"allow"`
	}
	// TestHookRequest runs a hook once in a project, with an example of its event. Nothing is denied or
	// added by it.
	TestHookRequest struct {
		ProjectID string `json:"projectId" req:"min=1,max=256"`
		ID        string `json:"id" req:"min=1,max=64"`
	}
	HookResponse struct {
		Hook Hook `json:"hook"`
	}
	TestHookResponse struct {
		Run HookRun `json:"run"`
		// Input is the JSON that the hook received.
		Input string `json:"input"`
	}
)

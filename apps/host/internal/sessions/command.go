package sessions

import (
	"context"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// slashWord splits a prompt of the form "/name words"; false where it has another one.
func slashWord(text string) (name, args string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok {
		return "", "", false
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' })
	if end < 0 {
		end = len(rest)
	}
	return rest[:end], strings.TrimSpace(rest[end:]), end > 0
}

// compactCommand reports whether a prompt asks for a compaction, and what the summary is
// to look at.
func compactCommand(text string) (focus string, ok bool) {
	name, focus, ok := slashWord(text)
	return focus, ok && name == "compact"
}

// namesCommand reports whether a word may call a command or a skill: small letters, digits
// and hyphens, after the name of an extension and a colon or alone. A path such as /etc/hosts
// does not.
func namesCommand(name string) bool {
	extension, below, found := strings.Cut(name, ":")
	if found && (extension == "" || below == "") {
		return false
	}
	return strings.Trim(extension+below, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// checkSlash refuses a prompt "/name" that calls neither a command nor a skill, so that a
// mistyped call is not sent to the model as text.
func (u *setup) checkSlash(ctx context.Context, text string) error {
	name, _, ok := slashWord(text)
	if !ok || name == "compact" || !namesCommand(name) || u.deps.ProjectContext == nil {
		return nil
	}
	var began session.Skills
	own := true // another program has commands of its own
	if err := u.do(ctx, func() {
		own = u.summary.Backend == ""
		read.LastCustom(u.log.Tree(), session.CustomSkills, &began)
	}); err != nil || !own {
		return nil // what comes next reports it
	}
	fresh := u.deps.ProjectContext(u.project.Path)
	names := []string{"/compact"}
	had := agent.ProjectContext{Skills: withExtensions(began, fresh.Skills), Later: laterSkills(fresh.Skills, began), Off: fresh.Off}.WithoutSkillsOff()
	for _, info := range slices.Concat(had.Skills.Skills, had.Later) {
		if info.Name == name {
			return nil
		}
		names = append(names, "/"+info.Name)
	}
	if len(names) > maxNamed {
		names = append(names[:maxNamed], "...")
	}
	return api.Errorf(api.KindBadRequest, "/%s is neither a command nor a skill: nothing was sent. There is: %s. "+
		"To send it as text, begin with another character, such as a quotation mark.", name, strings.Join(names, ", "))
}

// maxNamed is how many commands and skills an error names.
const maxNamed = 20

// compactPrompt is compactCommand of a prompt; one with images is none. Another program has
// commands of its own.
func (c *core) compactPrompt(prompt session.QueuedPrompt) (focus string, ok bool) {
	if len(prompt.Content) > 0 || c.digest.Backend != "" {
		return "", false
	}
	return compactCommand(prompt.Text)
}

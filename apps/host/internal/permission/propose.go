package permission

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// arity is the number of words that identify what a command does. Commands that are not
// listed are proposed word for word.
var arity = map[string]int{
	"git": 2, "git remote": 3, "git stash": 3, "git worktree": 3, "go": 2, "go mod": 3, "cargo": 2, "make": 2, "npm": 2, "npm run": 3,
	"pnpm": 2, "pnpm run": 3, "yarn": 2, "yarn run": 3, "bun": 2, "bun run": 3, "docker": 2, "docker compose": 3, "kubectl": 2, "terraform": 2,
	"gh": 3, "pip": 2, "poetry": 2, "uv": 2, "dotnet": 2, "mvn": 2, "gradle": 2, "rake": 2, "just": 2, "task": 2, "bazel": 2, "brew": 2,
	"pytest": 1, "tsc": 1, "eslint": 1, "vitest": 1, "jest": 1, "prettier": 1, "gofmt": 1, "mkdir": 1, "touch": 1, "cmake": 1, "ctest": 1,
	"staticcheck": 1, "golangci-lint": 2, "biome": 2, "ruff": 2, "mypy": 1, "black": 1, "composer": 2, "systemctl": 2, "rustup": 2,
	"swift": 2, "flutter": 2, "dart": 2, "mix": 2, "sbt": 2, "zig": 2, "cp": 1,
}

// unproposed lists prefixes of commands that run arbitrary programs.
var unproposed = []string{
	"npm exec", "npm x", "pnpm exec", "pnpm dlx", "yarn exec", "yarn dlx", "bun x", "go run", "go generate", "go tool", "cargo run",
	"uv run", "uv tool", "poetry run", "docker run", "docker exec", "docker compose run", "docker compose exec", "kubectl exec",
	"kubectl run", "git config", "git bisect", "git submodule", "git filter-branch", "git rebase", "gh api", "gh extension", "dotnet run",
	"mix run", "dart run", "swift run", "zig run",
}

// plainWord matches words that can appear literally in a rule.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+$`)

// maxExact is the maximum number of words of a command that is proposed word for word.
const maxExact = 12

// proposeCommand returns the rule that would allow the command, or "".
func proposeCommand(c command) string {
	name := c.words[0].text
	if c.wrapped || c.assigns || !plainWord.MatchString(name) {
		return ""
	}
	if b := base(name); slices.Contains(shells, b) || slices.Contains(wrappers, b) || slices.Contains(interpreters, b) ||
		slices.Contains(deletes, b) || slices.Contains(otherRights, b) {
		return ""
	}
	words := c.plain()
	prefix := strings.Join(words[:min(3, len(words))], " ") + " "
	if slices.ContainsFunc(unproposed, func(u string) bool { return strings.HasPrefix(prefix, u+" ") }) {
		return ""
	}
	n := 0
	for i := min(2, len(words)); i > 0 && n == 0; i-- {
		n = arity[strings.Join(words[:i], " ")]
	}
	if n == 0 || len(words) < n {
		return exactRule(c)
	}
	for i, w := range c.words[:n] {
		if w.kind != literalWord || !plainWord.MatchString(w.text) || i > 0 && strings.HasPrefix(w.text, "-") {
			return ""
		}
	}
	open := Rule{subject: subjectCommand, pattern: "*", words: append(slices.Clone(words[:n]), "*")}
	if open.wideCommand() != "" {
		return exactRule(c)
	}
	return "bash(" + strings.Join(words[:n], " ") + " *)"
}

func exactRule(c command) string {
	words := c.plain()
	if len(words) > maxExact || !c.literal() || slices.ContainsFunc(words, func(w string) bool { return !plainWord.MatchString(w) }) {
		return ""
	}
	return "bash(" + strings.Join(words, " ") + ")"
}

// proposePath returns the rule that would allow a tool to write near an absolute path, or
// "".
func (p Policy) proposePath(tool, full string) string {
	if !within(p.Dir, full) || full == p.Dir || p.runByGit(full) {
		return ""
	}
	rel := filepath.ToSlash(p.short(full))
	if !plainWord.MatchString(rel) {
		return ""
	}
	if dir := filepath.ToSlash(filepath.Dir(rel)); dir != "." {
		return tool + "(" + dir + "/**)"
	}
	return tool + "(" + "./" + rel + ")"
}

package permission

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// surroundings are the inputs of expansion other than the command line itself.
type surroundings struct {
	home   string
	env    func(name string) string
	homeOf func(user string) string
	// located returns where a path leads from a folder.
	located func(dir, path string) string
}

// pathVariables are the environment variables whose values are looked up. Others may hold
// secrets, which the reason of a verdict must not repeat: they count as unknown.
var pathVariables = []string{
	"USER", "LOGNAME", "TMPDIR", "SCOREL_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
}

// variable returns the value of a variable if it is known before the line runs. A value set
// by the line itself takes precedence over the environment.
func (r *reader) variable(name string) (w word, known bool) {
	if w, ok := r.vars[name]; ok {
		return w, w.kind <= globWord
	}
	switch {
	case name == "HOME":
		return word{text: r.home}, r.home != ""
	case name == "PWD":
		return word{text: r.dir}, r.dir != ""
	case r.env != nil && slices.Contains(pathVariables, name):
		value := r.env(name)
		return word{text: value}, value != ""
	}
	return word{}, false
}

// assign records the value that a line gives to a variable.
func (r *reader) assign(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	value := word{kind: dynamicWord}
	if a.Value != nil && !a.Append && a.Index == nil {
		value = r.word(a.Value)
	} else {
		r.inside(a)
	}
	r.set(a.Name.Value, value)
}

func (r *reader) set(name string, value word) {
	if r.vars == nil {
		r.vars = map[string]word{}
	}
	r.vars[name] = value
}

// tilde expands a leading ~ and returns the text that follows it. prefix is the text up to
// the first slash.
func (r *reader) tilde(text string) (folder, rest string, known bool) {
	prefix, _, _ := strings.Cut(text, "/")
	rest = text[len(prefix):]
	switch prefix {
	case "~":
		home, known := r.variable("HOME")
		return home.text, rest, known
	case "~+":
		return r.dir, rest, r.dir != ""
	}
	if r.homeOf != nil && !strings.ContainsAny(prefix, "+-\\\"'$*?[{") {
		if folder = r.homeOf(prefix[1:]); folder != "" {
			return folder, rest, true
		}
	}
	return "", text, false
}

// ansiC decodes a text in $'...' as bash does. known is false if it contains a zero byte, at
// which bash truncates the text, or \x{, which bash decodes in its own way.
func ansiC(text string) (out string, known bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		if at := strings.IndexByte("abeEfnrtv\\'\"?", text[i]); at >= 0 {
			b.WriteByte("\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[at])
			continue
		}
		if text[i] == 'c' && i+1 < len(text) {
			i++
			if text[i]&0x1f == 0 {
				return b.String(), false
			}
			b.WriteByte(text[i] & 0x1f)
			continue
		}
		code, length, wide := numeric(text[i:])
		switch {
		case strings.HasPrefix(text[i:], "x{"):
			return b.String(), false
		case length == 0: // not an escape: the backslash stays
			b.WriteByte('\\')
			b.WriteByte(text[i])
			continue
		case code == 0:
			return b.String(), false
		case wide:
			b.Write(utf8.AppendRune(nil, rune(code)))
		default:
			b.WriteByte(byte(code))
		}
		i += length - 1
	}
	return b.String(), true
}

// numeric decodes nnn, xHH, uHHHH and UHHHHHHHH. length is 0 if the text starts with none
// of them.
func numeric(text string) (code uint64, length int, wide bool) {
	base, most, skip := 16, 0, 1
	switch text[0] {
	case 'x':
		most = 2
	case 'u':
		most, wide = 4, true
	case 'U':
		most, wide = 8, true
	default:
		base, most, skip = 8, 3, 0
	}
	end := skip
	for end < len(text) && end < skip+most {
		if _, err := strconv.ParseUint(text[end:end+1], base, 8); err != nil {
			break
		}
		end++
	}
	code, err := strconv.ParseUint(text[skip:end], base, 32)
	if err != nil {
		return 0, 0, false
	}
	if !wide {
		code &= 0xff
	}
	return code, end, wide
}

// output returns the result of a substitution if it can be known: $(pwd), and $(cat <<E),
// which passes several lines of text to a command.
func (r *reader) output(list []*syntax.Stmt) (text string, known bool) {
	if len(list) != 1 {
		return "", false
	}
	s := list[0]
	call, simple := s.Cmd.(*syntax.CallExpr)
	if !simple || len(call.Args) != 1 || len(call.Assigns) > 0 || s.Background || s.Negated {
		return "", false
	}
	switch name := call.Args[0].Lit(); {
	case name == "pwd" && len(s.Redirs) == 0:
		return r.dir, r.dir != ""
	case name == "cat" && len(s.Redirs) == 1 && (s.Redirs[0].Op == syntax.Hdoc || s.Redirs[0].Op == syntax.DashHdoc):
		w := r.document(s.Redirs[0])
		return strings.TrimRight(w.text, "\n"), w.kind == literalWord
	}
	return "", false
}

// setters assign variables, redefine command names or evaluate words. Declarations are here
// for calls such as command declare and \declare, which are parsed as any other command.
var setters = []string{
	"declare", "typeset", "local", "export", "readonly", "compgen",
	"read", "mapfile", "readarray", "getopts", "unset", "shopt", "alias", "unalias", "enable", "hash", "bind", "complete", "let",
}

// setOptions are the options of set that do not affect expansion.
var setOptions = []string{"-o", "+o", "pipefail", "errexit", "nounset", "xtrace", "errtrace"}

// changesMeaning reports whether a command changes how later words expand.
func changesMeaning(name string, args []string) bool {
	switch {
	case slices.Contains(setters, name):
		return true
	case name == "test" || name == "[": // a subscript in the name after -v can run commands
		return slices.ContainsFunc(args, func(a string) bool {
			return a == "-v" || a == "-R" || strings.Contains(a, "[") && strings.ContainsAny(a, "$`")
		})
	case name == "jobs":
		return has(args, 'x')
	case name == "wait":
		return has(args, 'p')
	case name == "printf":
		return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-v") })
	case name == "set":
		return slices.ContainsFunc(args, func(a string) bool {
			return !slices.Contains(setOptions, a) && (len(a) < 2 || a[0] != '-' && a[0] != '+' || strings.Trim(a[1:], "euxvEo") != "")
		})
	}
	return false
}

package permission

import (
	"regexp"
	"slices"
	"strings"
)

// codeOptions lists the options whose value is program code for an interpreter.
var codeOptions = map[string]string{
	"python": "c", "python2": "c", "python3": "c", "pypy": "c", "pypy3": "c", "node": "ep", "nodejs": "ep", "bun": "e", "perl": "eE", "ruby": "e", "php": "rBE",
	"lua": "e", "luajit": "e", "Rscript": "e", "osascript": "e", "julia": "eE", "tclsh": "c", "pwsh": "c", "powershell": "c", "groovy": "e",
	"scala": "e", "ts-node": "ep", "tsx": "ep", "expect": "c", "gdb": "x", "lldb": "o",
}

// editors can run commands themselves.
var editors = []string{"ed", "ex", "vi", "vim", "nvim", "view", "emacs", "nano", "pico", "joe", "mc"}

// runsCode reports whether an interpreter gets its program from the command line or its
// input, where only a sandbox can confine it.
func runsCode(c command, name string) bool {
	letters, known := codeOptions[name]
	args := c.plain()[1:]
	switch {
	case slices.Contains(editors, name):
		return true
	case !known:
		return false
	case slices.Contains(args, "eval"), hasLong(args, "--eval", "--print", "--run", "--command", "--execute"):
		return true
	}
	for _, a := range args {
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.ContainsAny(a[1:], letters) {
			return true
		}
	}
	return len(operands(args)) == 0 && !hasLong(args, "--version", "--help", "-V", "-v", "-h") || slices.Contains(args, "-")
}

// embedsPrograms reports whether embedded analyzes the programs of a command.
func embedsPrograms(name string) bool {
	return slices.Contains([]string{"sed", "gsed", "awk", "gawk", "mawk", "nawk", "original-awk"}, name)
}

// embedded describes what a sed or awk program in a command line does besides printing, or
// returns "".
func embedded(c command, name string) string {
	args := c.plain()[1:]
	switch {
	case !embedsPrograms(name):
		return ""
	case strings.HasSuffix(name, "sed"):
		return sedReaches(args)
	}
	return awkReaches(args)
}

// programOf splits the arguments of sed and awk into programs and reports whether options
// name program files. letters are the short options that take a value.
func programOf(args []string, letters string) (programs []string, fromFile bool) {
	given := false
	var plain []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		value, long := "", strings.HasPrefix(a, "--")
		switch {
		case strings.HasPrefix(a, "--expression=") || strings.HasPrefix(a, "--source="):
			given, programs = true, append(programs, a[strings.Index(a, "=")+1:])
		case long && hasLong([]string{a}, "--file", "--include", "--load"):
			given, fromFile = true, true
		case long && (a == "--expression" || a == "--source") && i+1 < len(args):
			i++
			given, programs = true, append(programs, args[i])
		case long || !strings.HasPrefix(a, "-") || a == "-":
			if !long {
				plain = append(plain, a)
			}
		default:
			at := strings.IndexAny(a[1:], letters)
			if at < 0 {
				continue
			}
			if value = a[at+2:]; value == "" && i+1 < len(args) && a[at+1] != 'i' {
				i++
				value = args[i]
			}
			switch a[at+1] {
			case 'e':
				given, programs = true, append(programs, value)
			case 'f':
				given, fromFile = true, true
			}
		}
	}
	if !given && len(plain) > 0 {
		programs = plain[:1]
	}
	return programs, fromFile
}

const textSed = "its program for sed reads or writes other files, runs commands, or cannot be read"

func sedReaches(args []string) string {
	programs, fromFile := programOf(args, "efil")
	if fromFile || len(programs) == 0 && !hasLong(args, "--version", "--help") {
		return textSed
	}
	for _, program := range programs {
		if !sedPlain(program) {
			return textSed
		}
	}
	return ""
}

var (
	sedAddress = regexp.MustCompile(`^(?:[0-9]+(?:~[0-9]+)?|\$|/(?:\\.|[^/\\])*/[IM]*|\+[0-9]+|~[0-9]+)(?:[ \t]*,[ \t]*(?:[0-9]+|\$|/(?:\\.|[^/\\])*/[IM]*|\+[0-9]+|~[0-9]+))?[ \t]*`)
	sedSimple  = regexp.MustCompile(`^[dDpPnNgGhHx=lzFqQ][ \t]*[0-9]*[ \t]*`)
	sedLabel   = regexp.MustCompile(`^[:btT][ \t]*[A-Za-z0-9_]*[ \t]*`)
	sedFlags   = regexp.MustCompile(`^[gpiIMm0-9]*[ \t]*`)
)

// sedPlain reports whether a sed program only transforms and prints its input.
func sedPlain(program string) bool {
	for {
		program = strings.TrimLeft(program, " \t\n;{}")
		if program == "" {
			return true
		}
		program = strings.TrimLeft(strings.TrimPrefix(sedAddress.ReplaceAllString(program, ""), "!"), " \t")
		if program == "" {
			return false
		}
		var ok bool
		if program, ok = sedCommand(program); !ok || program != "" && strings.IndexByte(";\n}", program[0]) < 0 {
			return false
		}
	}
}

// sedCommand consumes one command of a sed program.
func sedCommand(program string) (rest string, ok bool) {
	switch program[0] {
	case '{':
		return ";" + program[1:], true
	case '#':
		_, rest, _ = strings.Cut(program, "\n")
		return strings.TrimLeft(rest, " \t"), rest == "" || sedPlain(rest)
	case 'a', 'i', 'c': // text up to the first end of line without a backslash
		for line := range strings.Lines(program) {
			program = program[len(line):]
			if !strings.HasSuffix(strings.TrimSuffix(line, "\n"), "\\") {
				break
			}
		}
		return ";" + program, true
	case 's', 'y':
		return sedReplace(program)
	}
	for _, form := range []*regexp.Regexp{sedSimple, sedLabel} {
		if found := form.FindString(program); found != "" {
			return program[len(found):], true
		}
	}
	return program, false
}

// sedReplace consumes s/a/b/flags or y/a/b/; the flags w and e are not plain.
func sedReplace(program string) (rest string, ok bool) {
	if len(program) < 4 || program[1] == '\\' || program[1] == '\n' {
		return program, false
	}
	mark, left, i := program[1], 2, 2
	class := false
	for ; i < len(program) && left > 0; i++ {
		switch {
		case program[i] == '\\':
			i++
		case program[i] == '[' && left == 2 && !class:
			// GNU sed ends the expression at a delimiter inside a bracket expression too,
			// so only one without a delimiter is certain.
			end := strings.IndexByte(program[i+1:], ']')
			class = end >= 0 && strings.IndexByte(program[i+1:i+1+end], mark) < 0
			if end >= 0 && !class {
				return program, false
			}
		case program[i] == ']':
			class = false
		case program[i] == mark:
			left--
			class = false
		}
	}
	if left > 0 || i > len(program) {
		return program, false
	}
	rest = program[i:]
	if program[0] == 's' {
		rest = rest[len(sedFlags.FindString(rest)):]
	}
	return rest, true
}

const textAwk = "its program for awk reads or writes other files, or runs commands"

var (
	awkWords  = regexp.MustCompile(`\b(system|getline|ARGV|ARGC|ENVIRON|PROCINFO|close|fflush)\b|@`)
	awkPrints = regexp.MustCompile(`\bprintf?\b[^;}\n]*>`)
)

func awkReaches(args []string) string {
	programs, _ := programOf(args, "efvFilm")
	if slices.ContainsFunc(args, func(a string) bool {
		return a == "-i" || a == "-l" || a == "--include" || a == "--load" || a == "inplace"
	}) {
		return textAwk
	}
	for _, program := range programs {
		bare := awkBare(program)
		if awkWords.MatchString(program) || awkPrints.MatchString(bare) || strings.Contains(strings.ReplaceAll(bare, "||", ""), "|") {
			return textAwk
		}
	}
	return ""
}

// awkOperand matches the end of an operand, after which a slash divides; elsewhere a slash
// begins a regular expression.
var awkOperand = regexp.MustCompile(`[A-Za-z0-9_$)\]"][ \t]*$`)
var awkKeyword = regexp.MustCompile(`\b(print|printf|return|in|case|else|do|not|and|or)[ \t]*$`)

// awkBare returns an awk program without the content of its strings and regular
// expressions.
func awkBare(program string) string {
	var b strings.Builder
	for i := 0; i < len(program); i++ {
		mark := program[i]
		b.WriteByte(mark)
		before := b.String()[:b.Len()-1]
		if mark != '"' && (mark != '/' || awkOperand.MatchString(before) && !awkKeyword.MatchString(before)) {
			continue
		}
		for i++; i < len(program) && program[i] != mark && program[i] != '\n'; i++ {
			if program[i] == '\\' {
				i++
			}
		}
		b.WriteByte(mark)
	}
	return b.String()
}

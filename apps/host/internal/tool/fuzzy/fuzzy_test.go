package fuzzy

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	tests := []struct{ name, content, old, new, want string }{
		{"CRLF stays", "a\r\nb\r\n", "b", "B\nC", "a\r\nB\r\nC\r\n"},
		{"a mark stays", "\ufeffa\nb\n", "a\n", "", "\ufeffb\n"},
		{"mixed ends: untouched lines", "a\r\nb\nc\r\n", "b", "B", "a\r\nB\nc\r\n"},
		{"mixed ends: a line takes the end of the one it replaces", "a\r\nb\nc\r\n", "a\nb\nc", "A\nB\nC", "A\r\nB\nC\r\n"},
		{"mixed ends: a new line takes the end of its neighbour", "a\r\nb\nc\r\n", "b\nc", "b\nx\nc", "a\r\nb\nx\nc\r\n"},
		{"mixed ends: at the end", "a\r\nb\nc", "c", "c\nd", "a\r\nb\nc\nd"},
		{"a lone CR is text", "a\rb\r\nc\r\n", "c", "d", "a\rb\r\nd\r\n"},
		{"CRLF in the call", "a\nb\n", "a\r\nb\r\n", "x\r\n", "x\n"},
		{"no line end", "a", "a", "b", "b"},
	}
	for _, test := range tests {
		file := Read(test.content)
		plan, err := Find(file.Text(), test.old, test.new, false)
		if got := file.Apply(plan.Edits); err != nil || got != test.want {
			t.Errorf("%s: %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}

// editDifferences are rows of the tool's own table that contain what we do differently, and
// why.
var editDifferences = map[string]string{
	"crlf_mixed_file_is_homogenised":   "a line that nobody touches keeps its end",
	"lf_file_with_one_late_crlf":       "a line that nobody touches keeps its end",
	"crlf_file_with_lone_cr_in_string": "a CR without LF is never changed",
	"crlf_multi_line_edit":             "the strategy is exact: line ends are set aside before the search",
	"not_found_whitespace_hint":        "the error is a conflict, because half of the lines suffice to find the place; it shows the blanks all the same",
	"bom_crlf":                         "the strategy is exact: line ends are set aside before the search",
}

func TestEditCases(t *testing.T) {
	var table []struct {
		Name, Content, Old, New string
		ReplaceAll              bool `json:"replace_all"`
		Expect                  struct {
			expectation
			Hint   *bool
			Blanks *bool `json:"ws_hint"`
		}
	}
	readJSON(t, "testdata/edit_tool_cases.json", &table)
	different := 0
	for _, c := range table {
		file := Read(c.Content)
		plan, err := Find(file.Text(), c.Old, c.New, c.ReplaceAll)
		var failure *Error
		agrees := false
		want := c.Expect
		if errors.As(err, &failure) {
			agrees = !want.OK && failure.Kind == want.ErrorKind && failure.Similar == *want.Hint && failure.Blanks == *want.Blanks
		} else {
			agrees = want.OK && plan.NoChange == want.NoChange &&
				(want.NoChange || file.Apply(plan.Edits) == want.Result && plan.Strategy == *want.Strategy && len(plan.Edits) == want.Count)
		}
		_, known := editDifferences[c.Name]
		if known {
			different++
		}
		if agrees == known {
			t.Errorf("%s: plan %+v, error %v, want %+v", c.Name, plan, err, want)
		}
	}
	if len(table) < 18 || different != len(editDifferences) {
		t.Errorf("%d rows, %d known differences", len(table), different)
	}
}

func TestMore(t *testing.T) {
	tests := []struct {
		name, text, old, new, want string
		strategy                   Strategy
	}{
		{"the indentation of all new lines", "    foo(a,  b)\n", "foo(a, b)", "x\ny", "    x\n    y\n", WhitespaceNormalized},
		{"no indentation inside a line", "v =    foo(a,  b)\n", "foo(a, b)", "f(\n  1)", "v =    f(\n  1)\n", WhitespaceNormalized},
		{"line breaks that the file does not have", "x = foo(a, b)\n", "foo(a,\n    b)", "bar(a)", "x = bar(a)\n", WhitespaceNormalized},
		{"line breaks that only the file has, after a line that stays", "  one()\n  foo(a,\n      b)  \n  two()\n", "one()\nfoo(a, b)\ntwo()", "one()\nfoo(a, b)\nthree()\nfour()",
			"  one()\n  foo(a,\n      b)  \n  three()\n  four()\n", WhitespaceNormalized},
		{"a blank line that the file does not have", "\tone()\n\ttwo()\n", "one()\n\ntwo()", "one()\n\nthree()", "\tone()\n\tthree()\n", WhitespaceNormalized},
		{"whole lines with other line breaks go", "\tfoo(a,\n\t\tb)\n\tbar()\n", "foo(a, b)\n", "", "\tbar()\n", WhitespaceNormalized},
		{"white space around old", "a\n\n  foo(a,\n b)\n  c\n", "a\n\nfoo(a, b)\n  ", "a\n\nbar()\n  ", "a\n\n  bar()\n  c\n", WhitespaceNormalized},
		{"a block that is wrapped goes one level in", "f:\n\tone()\n\ttwo()\n", "    one()\n    two()", "    if x:\n        one()\n        two()", "f:\n\tif x:\n\t\tone()\n\t\ttwo()\n", LineTrimmed},
		{"a level less than old has", "{\n\t{\n\t\tone()\n\t}\n}\n", "        one()", "        one()\n    }\n    {\n        two()", "{\n\t{\n\t\tone()\n\t}\n\t{\n\t\ttwo()\n\t}\n}\n", LineTrimmed},
		{"one depth known, the file's unit is two spaces", "a:\n  b: 1\n", "    b: 1", "    b:\n        c: 1", "a:\n  b:\n    c: 1\n", LineTrimmed},
		{"what is aligned stays aligned", "f(a,\n  b)  \nx\n", "f(a,\n  b)\nx", "f(a,\n  c)\ng(a,\n     b)", "f(a,\n  c)\ng(a,\n     b)\n", LineTrimmed},
		{"typeset quotes and tabs", "a:\n\tsay(“x”)\n\tgo()\n", "    say(\"x\")\n    go()", "    say(\"x\")\n    stop()", "a:\n\tsay(“x”)\n\tstop()\n", UnicodeNormalized},
		{"escapes and tabs", "a:\n\tone()\n\ttwo()\n", `\tone()\n\ttwo()`, `\tone()\n\tthree()`, "a:\n\tone()\n\tthree()\n", EscapeNormalized},
		{"a similar line and tabs", "a:\n\tsome_call(argument)\n\tfinish(9)\n", "    some_cal(argument)\n    finish(9)", "    some_cal(argument)\n    if x:\n        last_call()",
			"a:\n\tsome_call(argument)\n\tif x:\n\t\tlast_call()\n", ContextAware},
		{"escapes in both", "a\nb\n", `a\nb`, `a\nc`, "a\nc\n", EscapeNormalized},
		{"a line end that is one too many, then a deletion", "\ta = 1\n\tb = 2\n", "a = 1 \n", "", "\tb = 2\n", LineTrimmed},
		{"typeset text between two changes", "one — two — three\n", "one -- two -- three", "uno -- two -- tre", "uno — two — tre\n", UnicodeNormalized},
		{"what is new stays as it was sent", "a — b\n", "a -- b", "a -- b --x", "a — b --x\n", UnicodeNormalized},
		{"a similar block keeps lines that are not changed", "f {\n\tone(1)\n\ttwo(2)  \n\tthree(3)\n}\n", "f {\n\tone(1)\n\ttwo(2)\n\tthreee(3)\n}",
			"f {\n\tone(1)\n\ttwo(2)\n\tfour(4)\n}", "f {\n\tone(1)\n\ttwo(2)  \n\tfour(4)\n}\n", BlockAnchor},
	}
	for _, test := range tests {
		file := Read(test.text)
		plan, err := Find(file.Text(), test.old, test.new, false)
		if got := file.Apply(plan.Edits); err != nil || got != test.want || plan.Strategy != test.strategy {
			t.Errorf("%s: %q by %s, %v, want %q", test.name, got, plan.Strategy, err, test.want)
		}
	}
}

func TestReindentedIsReported(t *testing.T) {
	for _, test := range []struct {
		text, old, new string
		want           bool
	}{
		{"all:\n\techo hi\n", "    echo hi", "    echo you", true},
		{"all:\n\techo hi\n", "echo hi", "echo you", false},
		{"\ta  b\n", "\ta b", "\tc d", false},
	} {
		plan, err := Find(test.text, test.old, test.new, false)
		if err != nil || plan.Reindented != test.want {
			t.Errorf("%q: %+v, %v", test.text, plan, err)
		}
	}
}

func TestErrorsTellPlaces(t *testing.T) {
	_, err := Find(strings.Repeat("same\n", 7), "same", "x", false)
	if want := "  L1: same\n  L2: same\n  L3: same\n  L4: same\n  L5: same\n  ... and 2 more"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v", err)
	}
	_, err = Find("a\n\tvalue = compute()\nb\n", "  value = compute()\nother_line_that_is_not_there\nand_one_more", "x", false)
	if err == nil || !strings.Contains(err.Error(), "   2| \tvalue = compute()") || !strings.Contains(err.Error(), "file has: →value = compute()\n  you sent: ··value") {
		t.Errorf("%v", err)
	}
}

// FuzzFind: every plan fits the text and changes nothing else.
func FuzzFind(f *testing.F) {
	for _, c := range loadCases(f) {
		if len(c.Content) > 0 && len(c.Content) < 2000 {
			f.Add(c.Content, c.Old, c.New, c.ReplaceAll)
		}
	}
	f.Add("\ufeffa\r\nb\rc\n", "b\rc", "\xff\n", true)
	f.Fuzz(func(t *testing.T, content, old, new string, all bool) {
		file := Read(content)
		if got := file.Apply(nil); got != content {
			t.Fatalf("%q came back as %q", content, got)
		}
		text := file.Text()
		for _, level := range Strategies() {
			for _, span := range Spans(level, text, old) {
				if span.Start < 0 || span.Start > span.End || span.End > len(text) {
					t.Fatalf("%s finds %v in %d bytes", level, span, len(text))
				}
			}
		}
		plan, err := Find(text, old, new, all)
		if err != nil {
			return
		}
		at := 0
		for _, edit := range plan.Edits {
			if edit.Start < at || edit.End < edit.Start || edit.End > len(text) {
				t.Fatalf("edits %+v do not fit", plan.Edits)
			}
			at = edit.End
		}
		if len(plan.Edits) > 1 && !all {
			t.Fatalf("%d edits where one was asked for", len(plan.Edits))
		}
		file.Apply(plan.Edits)
	})
}

// bigFile has 10,000 lines of similar length and form.
func bigFile() string {
	random := rand.New(rand.NewPCG(3, 4))
	word := func() string {
		out := make([]byte, 6)
		for i := range out {
			out[i] = byte('a' + random.IntN(26))
		}
		return string(out)
	}
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "\t%s[%d] = %s(%s, options.%s)\n", word(), i, word(), word(), word())
	}
	return b.String()
}

// BenchmarkFind looks for 40 lines in 10,000. A hit must take less than 20 ms, a miss less
// than 200 ms.
func BenchmarkFind(b *testing.B) {
	text := bigFile()
	lines := strings.SplitAfter(text, "\n")
	block := strings.Join(lines[7000:7040], "")
	miss := strings.NewReplacer("a", "b", "b", "c", "c", "d", "e", "f", "f", "g", "g", "h", "s", "t", "t", "u").Replace(block)
	near := strings.ReplaceAll(block, "options", "optoins")
	var scrambled strings.Builder // as long as the lines of the file, with the same characters
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		scrambled.WriteString(line[len(line)/2:] + line[:len(line)/2] + "\n")
	}
	for _, c := range []struct {
		name, old string
		hit       bool
	}{
		{"exact", block, true},
		{"line_trimmed", strings.ReplaceAll(block, "\t", "  "), true},
		{"whitespace", strings.ReplaceAll(block, " = ", "  =  "), true},
		{"block_anchor", lines[7000] + strings.Join(strings.SplitAfter(near, "\n")[1:39], "") + lines[7039], true},
		{"context_aware", near, true},
		{"miss", miss, false},
		{"miss_same_characters", scrambled.String(), false},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				_, err := Find(text, strings.TrimSuffix(c.old, "\n"), "new text", false)
				var failure *Error
				if errors.As(err, &failure) == c.hit {
					b.Fatal(err)
				}
			}
		})
	}
}

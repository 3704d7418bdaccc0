package definition

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Bounds of a file.
const (
	maxFile        = 256 << 10 // bytes
	maxName        = 64        // characters
	maxDescription = 1024      // characters
	maxFrontMatter = 64 << 10  // bytes
	longBody       = 500       // lines; a longer body is noted
)

// Document is a parsed file.
type Document struct {
	Name        string // lowercase letters, digits and hyphens
	Description string // one line
	Manual      bool   // disable-model-invocation
	Body        string // Markdown
	Warnings    []string
	// Fields is the front matter as decoded from YAML.
	Fields map[string]any

	lines lines
}

// Line returns the line of the file, starting at 1, that holds item in the value of a
// field. It returns the line of the field itself if item is "" or is not found, and 0 if
// the front matter has no such field.
func (d Document) Line(field, item string) int { return d.lines.of(field, item) }

// ReadNamedByFolder reads a file that is named after its folder. The error says briefly why
// the file is left out.
func ReadNamedByFolder(path string) (Document, error) {
	return read(path, filepath.Base(filepath.Dir(path)), "folder")
}

// ReadNamedByFile reads a file whose base name, without the extension, is the name of its
// definition.
func ReadNamedByFile(path string) (Document, error) {
	base := filepath.Base(path)
	return read(path, strings.TrimSuffix(base, filepath.Ext(base)), "file")
}

// ReadCommand reads a file like ReadNamedByFile, which needs neither a description nor front
// matter: its first line describes it then.
func ReadCommand(path string) (Document, error) {
	data, err := load(path)
	if err != nil {
		return Document{}, err
	}
	base := filepath.Base(path)
	holder := strings.TrimSuffix(base, filepath.Ext(base))
	return parse(data, holder, "file", true)
}

func read(path, holder, what string) (Document, error) {
	data, err := load(path)
	if err != nil {
		return Document{}, err
	}
	return Parse(data, holder, what)
}

func load(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("it is larger than %d KiB", maxFile>>10)
	}
	return data, nil
}

// Parse parses a definition. what is "folder" or "file", and holder the name of that folder
// or file, which is used if the text has no name.
func Parse(data []byte, holder, what string) (Document, error) {
	return parse(data, holder, what, false)
}

func parse(data []byte, holder, what string, lenient bool) (Document, error) {
	text := strings.TrimPrefix(strings.ToValidUTF8(string(data), "\uFFFD"), "\uFEFF")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if lenient && !strings.HasPrefix(text, "---\n") {
		text = "---\n---\n" + text
	}
	head, body, err := split(text)
	if err != nil {
		return Document{}, err
	}
	fields, repaired, err := decode(head)
	if err != nil {
		return Document{}, err
	}
	d := Document{Body: strings.TrimSpace(body), Fields: fields, lines: readLines(head, repaired)}
	if repaired {
		d.warn("the front matter is not valid YAML; it was read as if its values were quoted")
	}
	described := fields["description"]
	if given, _ := described.(string); lenient && oneLine(given) == "" {
		described = cmp.Or(oneLine(strings.TrimLeft(firstLine(d.Body), "# ")), "no description")
	}
	if err := d.describe(described); err != nil {
		return Document{}, err
	}
	named := fields["name"]
	if lenient {
		named = holder // commands are called by the name of their file
	}
	if err := d.name(named, holder, what); err != nil {
		return Document{}, err
	}
	d.Manual = isTrue(fields["disable-model-invocation"])
	if lines := strings.Count(d.Body, "\n") + 1; lines > longBody {
		d.warn("the body has %d lines; more than %d use up much of the model's context", lines, longBody)
	}
	return d, nil
}

func (d *Document) warn(format string, args ...any) {
	d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...))
}

// split separates the front matter from the body.
func split(text string) (head, body string, err error) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", "", errors.New("it does not begin with a --- line and front matter")
	}
	if strings.HasPrefix(rest, "---") {
		rest = "\n" + rest
	}
	head, body, ok = strings.Cut(rest, "\n---")
	if !ok {
		return "", "", errors.New("the front matter has no closing --- line")
	}
	if len(head) > maxFrontMatter {
		return "", "", fmt.Errorf("the front matter is larger than %d KiB", maxFrontMatter>>10)
	}
	_, body, _ = strings.Cut(body, "\n")
	return head, body, nil
}

// decode parses the front matter. If it is not valid YAML, mostly because of a colon in a
// value, it is parsed again with the values of its lines quoted.
func decode(head string) (fields map[string]any, repaired bool, err error) {
	if err = yaml.Unmarshal([]byte(head), &fields); err == nil {
		return fields, false, nil
	}
	if yaml.Unmarshal([]byte(quoted(head)), &fields) == nil {
		return fields, true, nil
	}
	return nil, false, fmt.Errorf("the front matter is not valid YAML (%s)", strings.TrimPrefix(firstLine(err.Error()), "yaml: "))
}

var plainLine = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*):[ \t]+(\S.*)$`)

// quoted puts the values of plain "key: value" lines in quotes.
func quoted(head string) string {
	lines := strings.Split(head, "\n")
	for i, line := range lines {
		found := plainLine.FindStringSubmatch(strings.TrimRight(line, " \t"))
		if found == nil || strings.ContainsAny(found[2][:1], `|>`) {
			continue
		}
		value := found[2]
		if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		lines[i] = found[1] + ": '" + strings.ReplaceAll(value, "'", "''") + "'"
	}
	return strings.Join(lines, "\n")
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}

func (d *Document) describe(value any) error {
	text, _ := value.(string)
	text = oneLine(text)
	if text == "" {
		return errors.New("it has no description in its front matter")
	}
	if n := utf8.RuneCountInString(text); n > maxDescription {
		d.warn("the description has %d characters and was cut to %d", n, maxDescription)
		text = string([]rune(text)[:maxDescription])
	}
	d.Description = text
	return nil
}

// oneLine collapses white space and drops unprintable characters.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) {
			return -1
		}
		return r
	}, text)
}

var goodName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// name sets the name, repaired if necessary.
func (d *Document) name(value any, holder, what string) error {
	given := ""
	if value != nil {
		given = strings.TrimSpace(fmt.Sprint(value))
	}
	if given == "" {
		d.warn("it has no name; the name of its %s is used", what)
		given = holder
	}
	d.Name = given
	if !goodName.MatchString(given) || len(given) > maxName {
		if d.Name = slug(given); d.Name == "" {
			return fmt.Errorf("the name %.40q contains no valid characters (a-z, 0-9 and hyphens)", given)
		}
		d.warn("the name %.80q is not at most 64 characters of a-z, 0-9 and single hyphens; %s is used instead", given, d.Name)
	}
	if d.Name != holder {
		d.warn("the name %s differs from the name of its %s, %.80s", d.Name, what, oneLine(holder))
	}
	return nil
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

func slug(text string) string {
	text = strings.Trim(notInName.ReplaceAllString(strings.ToLower(text), "-"), "-")
	return strings.Trim(text[:min(len(text), maxName)], "-")
}

func isTrue(value any) bool {
	text, _ := value.(string)
	yes, _ := value.(bool)
	return yes || strings.EqualFold(text, "true")
}

package definition

import (
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
	longBody       = 500       // lines, above which it is noted
)

// Document is a file that was read.
type Document struct {
	Name        string // small letters, digits and hyphens
	Description string // one line
	Manual      bool   // disable-model-invocation
	Body        string // Markdown
	Warnings    []string
	// Fields is the front matter, as YAML decodes it.
	Fields map[string]any
}

// ReadNamedByFolder reads a file that is named as the folder it lies in. The error
// says in a few words why it does not count.
func ReadNamedByFolder(path string) (Document, error) {
	return read(path, filepath.Base(filepath.Dir(path)), "folder")
}

// ReadNamedByFile reads a file whose own name, without the ending, is that of what it
// defines.
func ReadNamedByFile(path string) (Document, error) {
	base := filepath.Base(path)
	return read(path, strings.TrimSuffix(base, filepath.Ext(base)), "file")
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
		return nil, fmt.Errorf("it has more than %d KiB", maxFile>>10)
	}
	return data, nil
}

// Parse reads a text. what holds it, a "folder" or a "file", is named holder, and its
// name is the one that counts where the text has none.
func Parse(data []byte, holder, what string) (Document, error) {
	text := strings.TrimPrefix(strings.ToValidUTF8(string(data), "\uFFFD"), "\uFEFF")
	head, body, err := split(strings.ReplaceAll(text, "\r\n", "\n"))
	if err != nil {
		return Document{}, err
	}
	fields, repaired, err := decode(head)
	if err != nil {
		return Document{}, err
	}
	d := Document{Body: strings.TrimSpace(body), Fields: fields}
	if repaired {
		d.warn("the front matter is no YAML; it was read as if its values were in quotes")
	}
	if err := d.describe(fields["description"]); err != nil {
		return Document{}, err
	}
	if err := d.name(fields["name"], holder, what); err != nil {
		return Document{}, err
	}
	d.Manual = isTrue(fields["disable-model-invocation"])
	if lines := strings.Count(d.Body, "\n") + 1; lines > longBody {
		d.warn("the body has %d lines; more than %d cost the model much of its context", lines, longBody)
	}
	return d, nil
}

func (d *Document) warn(format string, args ...any) {
	d.Warnings = append(d.Warnings, fmt.Sprintf(format, args...))
}

// split parts the front matter from the body.
func split(text string) (head, body string, err error) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", "", errors.New("it does not begin with a line --- and front matter")
	}
	if strings.HasPrefix(rest, "---") {
		rest = "\n" + rest
	}
	head, body, ok = strings.Cut(rest, "\n---")
	if !ok {
		return "", "", errors.New("the front matter has no line --- at its end")
	}
	if len(head) > maxFrontMatter {
		return "", "", fmt.Errorf("the front matter has more than %d KiB", maxFrontMatter>>10)
	}
	_, body, _ = strings.Cut(body, "\n")
	return head, body, nil
}

// decode reads the front matter. Where it is no YAML, mostly for a colon in a
// value, it is read once more with the values of its lines in quotes.
func decode(head string) (fields map[string]any, repaired bool, err error) {
	if err = yaml.Unmarshal([]byte(head), &fields); err == nil {
		return fields, false, nil
	}
	if yaml.Unmarshal([]byte(quoted(head)), &fields) == nil {
		return fields, true, nil
	}
	return nil, false, fmt.Errorf("the front matter is no YAML (%s)", strings.TrimPrefix(firstLine(err.Error()), "yaml: "))
}

var plainLine = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*):[ \t]+(\S.*)$`)

// quoted puts the values of plain "key: value" lines into quotes.
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
		d.warn("the description has %d characters and is cut to %d", n, maxDescription)
		text = string([]rune(text)[:maxDescription])
	}
	d.Description = text
	return nil
}

// oneLine collapses white space and drops what is not for reading.
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

// name takes the name, or makes the best of it.
func (d *Document) name(value any, holder, what string) error {
	given := ""
	if value != nil {
		given = strings.TrimSpace(fmt.Sprint(value))
	}
	if given == "" {
		d.warn("it has no name; that of its %s is used", what)
		given = holder
	}
	d.Name = given
	if !goodName.MatchString(given) || len(given) > maxName {
		if d.Name = slug(given); d.Name == "" {
			return fmt.Errorf("the name %.40q has no letters or digits of a name (a-z, 0-9 and hyphens)", given)
		}
		d.warn("the name %.80q is not made of a-z, 0-9 and single hyphens, 64 at most; it is used as %s", given, d.Name)
	}
	if d.Name != holder {
		d.warn("the name %s is not that of its %s, %.80s", d.Name, what, oneLine(holder))
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

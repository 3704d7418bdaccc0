// Package redact removes what is private from text that people show to others: names, paths,
// addresses, ids, keys, and whatever a message quotes.
package redact

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// Redactor knows what is private on a machine. It is safe for concurrent use once it is made.
type Redactor struct {
	home  string
	below *regexp.Regexp // home, or a path below it; nil without a home
	known []string       // longest first
}

// New returns a redactor. home is the folder of scorel's files, below which paths are kept; known
// has texts that are private wherever they are.
func New(home string, known []string) *Redactor {
	r := &Redactor{home: home}
	if home != "" {
		r.below = regexp.MustCompile(regexp.QuoteMeta(home) + `(?:[/\\][^\s:;,"'()\[\]]*)?`)
	}
	for _, text := range known {
		if len(text) >= minKnown && !common[strings.ToLower(text)] && !slices.Contains(r.known, text) {
			r.known = append(r.known, text)
		}
	}
	slices.SortFunc(r.known, func(a, b string) int { return len(b) - len(a) })
	return r
}

const (
	minKnown = 2  // shorter names would take every word apart
	minPlain = 12 // of a text in a file whose meaning is not known
)

// common are words of almost every message. A name that is one of them identifies nobody, and the
// gaps in known sentences would reveal it.
var common = wordSet("an and are as at be but by can do does for from has have if in into is it its more no not now of off on one only or out so than that the then there this to up was were will with without yet")

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}

// maxDepth bounds the nesting that Strings follows.
const maxDepth = 100

// Strings returns the texts of a JSON document that are private: all names and paths, and whatever
// else is long, such as keys.
func Strings(document []byte) []string {
	var value any
	if json.Unmarshal(document, &value) != nil {
		return nil
	}
	return collect(nil, "", value, 0)
}

func collect(found []string, key string, value any, depth int) []string {
	switch v := value.(type) {
	case string:
		if named[key] || len(v) >= minPlain {
			found = append(found, v)
		}
	case []any:
		for _, element := range v {
			if depth < maxDepth {
				found = collect(found, key, element, depth+1)
			}
		}
	case map[string]any:
		for name, element := range v {
			if len(name) >= minPlain {
				found = append(found, name) // a map by id or path
			}
			if depth < maxDepth {
				found = collect(found, name, element, depth+1)
			}
		}
	}
	return found
}

// named are the keys of short texts that are private.
var named = map[string]bool{"label": true, "name": true, "path": true, "title": true, "folder": true, "user": true, "key": true, "secret": true, "token": true,
	"id": true, "provider": true, "default_model": true, "auxiliary_model": true}

var (
	quoted  = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|'[^']{2,}'|“[^”]*”")
	address = regexp.MustCompile(`(?i)\b([a-z][a-z0-9+.-]*)://[^\s"'<>]+`)
	path    = regexp.MustCompile(`(?:~|[A-Za-z]:|[\w.-]*[A-Za-z_][\w.-]*)?(?:[/\\]+[^\s:;,"'()\[\]/\\]+)+[/\\]?`)
	plain   = regexp.MustCompile(`^[a-z]+(?:\.[a-z]+)?$`)
	network = regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}\b|\[?\b[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){3,7}\b\]?`)
	host    = regexp.MustCompile(`(?i)\b(?:[a-z0-9-]+\.)+[a-z]{2,}\b`)
	secret  = regexp.MustCompile(`[A-Za-z0-9_+/=~-]{16,}`)
	mail    = regexp.MustCompile(`[^\s@<>]+@[^\s@<>]+`)
)

// Text returns a text without what is private.
func (r *Redactor) Text(text string) string {
	var out strings.Builder
	for r.below != nil {
		at := r.below.FindStringIndex(text)
		if at == nil {
			break
		}
		out.WriteString(r.outside(text[:at[0]]))
		out.WriteString(r.inside(text[at[0]+len(r.home) : at[1]]))
		text = text[at[1]:]
	}
	out.WriteString(r.outside(text))
	return out.String()
}

// inside names a path below the home without what people, projects and sessions are called.
func (r *Redactor) inside(rest string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(rest, `/\`), "/")
	if plain.MatchString(first) && !slices.Contains(r.known, first) {
		return "SCOREL_HOME/" + first
	}
	return "SCOREL_HOME"
}

// outside is Text for a text without the path of the home.
func (r *Redactor) outside(text string) string {
	text = quoted.ReplaceAllString(text, "[text]")
	text = mail.ReplaceAllString(text, "[address]")
	text = address.ReplaceAllString(text, "$1: [address]")
	for _, known := range r.known { // a path with spaces, before a part of it is taken
		if strings.ContainsAny(known, `/\`) {
			text = strings.ReplaceAll(text, known, "[path]")
		}
	}
	text = path.ReplaceAllString(text, "[path]")
	for _, known := range r.known {
		text = replaceName(text, known)
	}
	text = network.ReplaceAllString(text, "[address]")
	text = host.ReplaceAllString(text, "[address]")
	return secret.ReplaceAllString(text, "[removed]")
}

// replaceName hides a known text. A short one inside a word is another word: hiding it would destroy
// the word and reveal the text. A long one, such as a key, is hidden wherever it is.
func replaceName(text, known string) string {
	const hidden = "[name]"
	if len(known) >= minPlain {
		return strings.ReplaceAll(text, known, hidden)
	}
	var out strings.Builder
	start := 0
	for at := 0; ; {
		found := strings.Index(text[at:], known)
		if found < 0 {
			out.WriteString(text[start:])
			return out.String()
		}
		from, to := at+found, at+found+len(known)
		if joins(text, from) || joins(text, to) {
			at = from + 1
			continue
		}
		out.WriteString(text[start:from] + hidden)
		start, at = to, to
	}
}

// joins reports whether a position is inside a word. Only ASCII is known to form words: a name in
// Chinese has no spaces around it.
func joins(text string, at int) bool {
	return at > 0 && at < len(text) && ofWord(text[at-1]) && ofWord(text[at])
}

func ofWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

package index

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/api"
)

// maxTerms bounds the words and phrases of a search.
const maxTerms = 32

// minPrefix is how many letters a prefix needs: too many words begin with one letter. A shorter
// one is searched for as a word.
const minPrefix = 2

// term is a word or a phrase of a search.
type term struct {
	text   string
	prefix bool
	not    bool
}

// parseQuery parses what people write: words that must all occur, "phrases", begin* for a
// prefix, and -word for a word that must not occur. Every text is valid; parts without a letter
// or digit are left out.
func parseQuery(query string) []term {
	var terms []term
	rest := strings.ToValidUTF8(query, " ")
	for {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if rest == "" {
			return terms
		}
		var t term
		if after, found := strings.CutPrefix(rest, "-"); found {
			t.not, rest = true, after
		}
		t.text, rest = cutTerm(rest)
		if after, found := strings.CutPrefix(rest, "*"); found {
			t.prefix, rest = utf8.RuneCountInString(t.text) >= minPrefix, after
		}
		if strings.ContainsFunc(t.text, isWordRune) {
			terms = append(terms, t)
		}
	}
}

// cutTerm cuts a word or a phrase from the beginning of s. It consumes at least one byte unless
// s begins with a space or a star.
func cutTerm(s string) (text, rest string) {
	if after, found := strings.CutPrefix(s, `"`); found {
		text, rest, _ = strings.Cut(after, `"`) // an unfinished phrase extends to the end
		return text, rest
	}
	end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == '*' })
	if end < 0 {
		return s, ""
	}
	return s[:end], s[end:]
}

// isWordRune reports whether FTS5 treats a character as part of a word.
func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// expression converts a search to the language of FTS5. Of each list of scope, an entry has
// one word. It quotes every text, so that nothing
// in it has a special meaning. The error is an *api.Error.
func expression(query string, scope [][]string) (string, error) {
	if len(query) > api.MaxQuery {
		return "", api.Errorf(api.KindTooLarge, "the search has %d bytes, the limit is %d: search for fewer words", len(query), api.MaxQuery)
	}
	terms := parseQuery(query)
	if len(terms) > maxTerms {
		return "", api.Errorf(api.KindTooLarge, "the search has %d words, the limit is %d: search for fewer", len(terms), maxTerms)
	}
	if !slices.ContainsFunc(terms, func(t term) bool { return !t.not }) {
		return "", api.Errorf(api.KindBadRequest, "nothing to search for: give at least one word that must occur")
	}
	var b strings.Builder
	b.WriteString("{text} : (")
	writeTerms(&b, terms, false, " AND ")
	b.WriteString(")")
	for _, words := range scope {
		b.WriteString(" AND {scope} : (")
		for i, word := range words {
			if i > 0 {
				b.WriteString(" OR ")
			}
			b.WriteString(quote(word))
		}
		b.WriteString(")")
	}
	if slices.ContainsFunc(terms, func(t term) bool { return t.not }) {
		positive := b.String()
		b.Reset()
		b.WriteString("(" + positive + ") NOT {text} : (")
		writeTerms(&b, terms, true, " OR ")
		b.WriteString(")")
	}
	return b.String(), nil
}

func writeTerms(b *strings.Builder, terms []term, not bool, between string) {
	first := true
	for _, t := range terms {
		if t.not != not {
			continue
		}
		if !first {
			b.WriteString(between)
		}
		first = false
		b.WriteString(quote(findable(t.text)))
		if t.prefix {
			b.WriteString("*")
		}
	}
}

func quote(text string) string { return `"` + strings.ReplaceAll(text, `"`, `""`) + `"` }

// scopeWord makes one word of an id, different for each id.
func scopeWord(kind byte, id string) string {
	const digits = "0123456789abcdef"
	word := []byte{kind}
	for i := range len(id) {
		if c := id[i]; 'a' <= c && c <= 'w' || '0' <= c && c <= '9' {
			word = append(word, c)
		} else {
			word = append(word, 'x', digits[c>>4], digits[c&15])
		}
	}
	return string(word)
}

func validRole(role string) bool {
	return slices.Contains([]string{"", "user", "assistant", RoleTool, RoleSummary, RoleName, RoleOther}, role)
}

package chat

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/apps/cli/internal/chat/composer"
	"github.com/scorel/scorel/packages/protocol/api"
)

// scope is where files, skills and what MCP servers offer are looked for.
type scope struct {
	remote  remote
	session api.SessionSummary // without an id for a new one
	project string             // of the session, or of the next one; "" if it is not known
}

// place is the folder that files are named in; false if it is not known.
func (s scope) place() (api.Place, bool) {
	if s.session.ID != "" {
		return api.Place{SessionID: s.session.ID}, true
	}
	return api.Place{ProjectID: s.project}, s.project != ""
}

// completion offers what the word before the cursor may become: a command, a file, or a prompt or
// resource of an MCP server.
type completion struct {
	now     func() time.Time
	editor  *composer.Editor
	servers serverOffers
	list    suggestions
}

// suggestions are what a word may become.
type suggestions struct {
	word   string // that is completed, with its "/" or "@"
	rows   []row
	offers []row // the last rows, of MCP servers
	at     int
	closed string // a word for which the person closed the list
}

// found brings the files for a word.
type found struct {
	word  string
	files []api.FoundFile
	err   error
}

// maxOffered is how many rows are shown.
const maxOffered = 6

func (c *completion) open() bool { return len(c.list.rows) > 0 }

// close hides the list until another word is written.
func (c *completion) close() { c.list = suggestions{} }

// suggest looks at the word before the cursor.
func (c *completion) suggest(s scope) tea.Cmd {
	word := lastWord(c.editor.Before())
	if word == c.list.closed && word != "" {
		return nil
	}
	whole := c.editor.Text()
	switch {
	case strings.HasPrefix(word, "/") && whole == word:
		c.list = suggestions{word: word}
		c.list.show(commandRows(word[1:]), c.servers.rows(word))
		return tea.Batch(findSkills(s, word), c.servers.find(s, c.now()))
	case strings.HasPrefix(word, "@"):
		if !strings.HasPrefix(c.list.word, "@") {
			c.close()
		}
		c.list.word = word
		return tea.Batch(findFiles(s, word), c.servers.find(s, c.now()))
	}
	c.close()
	return nil
}

// lastWord returns what is between the last space and the end.
func lastWord(text string) string {
	return text[strings.LastIndexAny(text, " \n")+1:]
}

func commandRows(begin string) []row {
	var rows []row
	for _, s := range slashes() {
		if strings.HasPrefix(s.name, begin) {
			rows = append(rows, row{title: strings.TrimSpace("/" + s.name + " " + s.args), detail: s.what, value: "/" + s.name + " "})
		}
	}
	align(rows)
	return rows
}

func findFiles(s scope, word string) tea.Cmd {
	place, ok := s.place()
	if !ok || !s.remote.connected {
		return nil
	}
	return func() tea.Msg {
		response, err := ask(s.remote, api.FindFiles, api.FindFilesRequest{Place: place, Query: word[1:]})
		return found{word, response.Files, err}
	}
}

// show shows rows, and behind them those of MCP servers.
func (c *suggestions) show(rows, offers []row) {
	c.offers = offers
	c.rows = slices.Concat(rows, offers)
	if strings.HasPrefix(c.word, "/") {
		align(c.rows)
	}
	c.at = max(min(c.at, len(c.rows)-1), 0)
}

// others are the rows before those of MCP servers.
func (c *suggestions) others() []row { return c.rows[:len(c.rows)-len(c.offers)] }

// take shows files, unless another word is being written by now.
func (c *suggestions) take(msg found, offers []row) {
	if msg.word != c.word {
		return
	}
	var rows []row
	for _, file := range msg.files { // none without the grant to see files
		path := file.Path
		end := " "
		if file.Kind == api.FileFolder {
			path += "/"
			end = ""
		}
		rows = append(rows, row{title: path, value: "@" + path + end})
	}
	c.at = 0
	c.show(rows, offers)
}

// key handles a key while the list is open; false means that it has another meaning.
func (c *completion) key(name string) bool {
	if !c.open() {
		return false
	}
	l := &c.list
	switch name {
	case "up", "ctrl+p":
		l.at = max(l.at-1, 0)
	case "down", "ctrl+n":
		l.at = min(l.at+1, len(l.rows)-1)
	case "esc":
		*l = suggestions{closed: l.word}
	case "tab":
		c.accept()
	case "enter":
		if text, _ := l.rows[l.at].value.(string); strings.TrimSpace(text) == l.word {
			return false // it is written out: send it
		}
		c.accept()
	default:
		return false
	}
	return true
}

// accept puts the chosen row in place of the word.
func (c *completion) accept() {
	l := c.list
	text, _ := l.rows[l.at].value.(string)
	c.close()
	c.editor.Replace(len(l.word), text)
}

// took shows what was found, if the word is still there. project is the one on the screen.
func (c *completion) took(msg tea.Msg, project string) {
	switch msg := msg.(type) {
	case found:
		c.list.take(msg, c.servers.rows(msg.word))
	case skillsFound:
		c.list.takeSkills(msg)
	case offered:
		c.servers.took(msg)
		if msg.err == nil && msg.project == project && c.list.word != "" {
			c.list.show(c.list.others(), c.servers.rows(c.list.word))
		}
	}
}

// lines shows the list.
func (c *completion) lines(s screen) []string {
	if !c.open() {
		return nil
	}
	at, rows := c.list.at, c.list.rows
	first := min(max(at-maxOffered+1, 0), max(len(rows)-maxOffered, 0))
	var lines []string
	for i, r := range rows[first:min(first+maxOffered, len(rows))] {
		lines = append(lines, s.row(r, first+i == at))
	}
	return lines
}

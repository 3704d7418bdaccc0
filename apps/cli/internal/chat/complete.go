package chat

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
)

// completion offers what the word before the cursor may become: a command, a file, or a prompt or
// resource of an MCP server.
type completion struct {
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

func (c *completion) open() bool { return len(c.rows) > 0 }

// suggest looks at the word before the cursor.
func (m *Model) suggest() tea.Cmd {
	word := lastWord(m.editor.Before())
	if word == m.complete.closed && word != "" || m.card.writing {
		return nil
	}
	whole := m.editor.Text()
	switch {
	case strings.HasPrefix(word, "/") && whole == word:
		m.complete = completion{word: word}
		m.complete.show(commandRows(word[1:]), m.offers.rows(word))
		return tea.Batch(m.findSkills(word), m.findOffers())
	case strings.HasPrefix(word, "@"):
		if m.complete.word == "" || !strings.HasPrefix(m.complete.word, "@") {
			m.complete = completion{}
		}
		m.complete.word = word
		return tea.Batch(m.findFiles(word), m.findOffers())
	}
	m.complete = completion{}
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

// place is the folder that files are named in.
func (m *Model) place() (api.Place, bool) {
	if id := m.session.Summary.ID; id != "" {
		return api.Place{SessionID: id}, true
	}
	return api.Place{ProjectID: m.next.project.ID}, m.next.project.ID != ""
}

func (m *Model) findFiles(word string) tea.Cmd {
	place, ok := m.place()
	if !ok || !m.conn.connected {
		return nil
	}
	r := m.conn.remote()
	return func() tea.Msg {
		response, err := ask(r, api.FindFiles, api.FindFilesRequest{Place: place, Query: word[1:]})
		return found{word, response.Files, err}
	}
}

// show shows rows, and behind them those of MCP servers.
func (c *completion) show(rows, offers []row) {
	c.offers = offers
	c.rows = slices.Concat(rows, offers)
	if strings.HasPrefix(c.word, "/") {
		align(c.rows)
	}
	c.at = max(min(c.at, len(c.rows)-1), 0)
}

// others are the rows before those of MCP servers.
func (c *completion) others() []row { return c.rows[:len(c.rows)-len(c.offers)] }

// take shows files, unless another word is being written by now.
func (c *completion) take(msg found, offers []row) {
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

// completionKey handles a key while the list is open.
func (m *Model) completionKey(name string) bool {
	c := &m.complete
	if !c.open() {
		return false
	}
	switch name {
	case "up", "ctrl+p":
		c.at = max(c.at-1, 0)
	case "down", "ctrl+n":
		c.at = min(c.at+1, len(c.rows)-1)
	case "esc":
		*c = completion{closed: c.word}
	case "tab":
		m.accept()
	case "enter":
		if text, _ := c.rows[c.at].value.(string); strings.TrimSpace(text) == c.word {
			return false // it is written out: send it
		}
		m.accept()
	default:
		return false
	}
	return true
}

// accept puts the chosen row in place of the word.
func (m *Model) accept() {
	c := m.complete
	text, _ := c.rows[c.at].value.(string)
	m.complete = completion{}
	m.editor.Replace(len(c.word), text)
}

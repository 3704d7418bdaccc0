package chat

import (
	"cmp"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
)

// serverOffers are the resources and prompts of a project's MCP servers. They are listed again when a
// word begins, but not more often than a server needs to start.
type serverOffers struct {
	project string // "" before the first list
	asked   time.Time
	waiting bool
	list    api.ListMCPOffersResponse
}

// offered brings what the servers of a project offer.
type offered struct {
	project string
	list    api.ListMCPOffersResponse
	err     error
}

const offersFor = 10 * time.Second

// find asks what MCP servers offer, unless that is known.
func (o *serverOffers) find(s scope, now time.Time) tea.Cmd {
	project := s.project
	if project == "" || !s.remote.connected || o.waiting || o.project == project && now.Sub(o.asked) < offersFor {
		return nil
	}
	o.waiting, o.asked = true, now
	return func() tea.Msg {
		list, err := ask(s.remote, api.ListMCPOffers, api.ListMCPOffersRequest{ProjectID: project})
		return offered{project, list, err}
	}
}

// took keeps what servers offer. An error hides them only: files and commands are there.
func (o *serverOffers) took(msg offered) {
	o.waiting, o.project, o.list = false, msg.project, msg.list
}

// rows are the offers that a word may become.
func (o *serverOffers) rows(word string) []row {
	var rows []row
	begin := strings.ToLower(strings.TrimLeft(word, "/@"))
	switch {
	case strings.HasPrefix(word, "/"):
		for _, p := range o.list.Prompts {
			if strings.HasPrefix(strings.ToLower(p.Command), begin) || begin != "" && strings.Contains(strings.ToLower(p.Name), begin) {
				rows = append(rows, row{title: strings.TrimSpace("/" + p.Command + " " + argumentsOf(p)), detail: cmp.Or(p.Title, p.Description, p.Name), value: "/" + p.Command + " "})
			}
		}
	case strings.HasPrefix(word, "@"):
		for _, r := range o.list.Resources {
			name := r.Server + ":" + r.URI
			if strings.Contains(strings.ToLower(name+"\n"+r.Name+"\n"+r.Title), begin) {
				rows = append(rows, row{title: name, detail: cmp.Or(r.Title, r.Name), value: "@" + name + " "})
			}
		}
	}
	return rows
}

// argumentsOf shows the arguments of a prompt; those that may be left out are in brackets.
func argumentsOf(p api.MCPPrompt) string {
	var words []string
	for _, a := range p.Arguments {
		word := strings.ToUpper(a.Name)
		if !a.Required {
			word = "[" + word + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

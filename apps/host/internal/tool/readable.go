package tool

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// page collects the readable text of an HTML page.
type page struct {
	out    strings.Builder
	last   byte // last byte written; further spaces after a space or line end are dropped
	base   *url.URL
	hidden int      // open elements whose text is not displayed
	pre    int      // open elements that preserve white space
	links  []string // targets of open links
}

// readable returns the text of a page as Markdown with headings, lists and links. Links are
// made absolute.
func readable(source, address string) string {
	p := &page{base: &url.URL{}}
	if base, err := url.Parse(address); err == nil {
		p.base = base
	}
	tokens := html.NewTokenizer(strings.NewReader(source))
	for {
		switch tokens.Next() {
		case html.ErrorToken: // the end, or unreadable input
			return tidyText(p.out.String())
		case html.TextToken:
			p.text(string(tokens.Text()))
		case html.StartTagToken:
			p.start(tokens.Token(), false)
		case html.SelfClosingTagToken:
			p.start(tokens.Token(), true)
		case html.EndTagToken:
			p.end(tokens.Token())
		}
	}
}

// write appends text.
func (p *page) write(text string) {
	if text != "" {
		p.out.WriteString(text)
		p.last = text[len(text)-1]
	}
}

func (p *page) blank() {
	if p.last != 0 && p.last != ' ' && p.last != '\n' {
		p.write(" ")
	}
}

func (p *page) text(text string) {
	switch {
	case p.hidden > 0:
		return
	case p.pre > 0:
		p.write(html.UnescapeString(text))
		return
	}
	if strings.TrimLeft(text, " \t\r\n") != text {
		p.blank()
	}
	p.write(strings.Join(strings.Fields(html.UnescapeString(text)), " "))
	if strings.TrimRight(text, " \t\r\n") != text {
		p.blank()
	}
}

func isHidden(a atom.Atom) bool {
	return a == atom.Script || a == atom.Style || a == atom.Noscript || a == atom.Template || a == atom.Svg || a == atom.Iframe
}

func isBlock(a atom.Atom) bool {
	switch a {
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Main, atom.Nav, atom.Aside, atom.Ul, atom.Ol,
		atom.Table, atom.Tr, atom.Blockquote, atom.Pre, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Title, atom.Dl, atom.Dt, atom.Dd:
		return true
	}
	return false
}

func (p *page) start(token html.Token, empty bool) {
	a := token.DataAtom
	switch {
	case isHidden(a) && !empty:
		p.hidden++
	case a == atom.Br:
		p.write("\n")
	case a == atom.Li:
		p.write("\n- ")
	case a == atom.Td || a == atom.Th:
		p.write(" | ")
	case a == atom.A:
		p.openLink(token)
	case isBlock(a):
		p.write("\n\n")
		if a == atom.Pre {
			p.pre++
		}
		if len(token.Data) == 2 && token.Data[0] == 'h' {
			p.write(strings.Repeat("#", int(token.Data[1]-'0')) + " ")
		}
	}
}

func (p *page) openLink(token html.Token) {
	target := ""
	for _, attribute := range token.Attr {
		if attribute.Key == "href" {
			if link, err := p.base.Parse(attribute.Val); err == nil && (link.Scheme == "http" || link.Scheme == "https") {
				target = link.String()
			}
		}
	}
	if target != "" && p.hidden == 0 {
		p.write("[")
	}
	p.links = append(p.links, target)
}

func (p *page) end(token html.Token) {
	a := token.DataAtom
	switch {
	case isHidden(a):
		p.hidden = max(0, p.hidden-1)
	case a == atom.A && len(p.links) > 0:
		target := p.links[len(p.links)-1]
		p.links = p.links[:len(p.links)-1]
		if target != "" && p.hidden == 0 {
			p.write("](" + target + ")")
		}
	case isBlock(a):
		if a == atom.Pre {
			p.pre = max(0, p.pre-1)
		}
		p.write("\n\n")
	}
}

// tidyText removes trailing spaces and keeps at most one blank line in a row.
func tidyText(text string) string {
	var out strings.Builder
	blank := true
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if strings.TrimSpace(line) == "" {
			if !blank {
				out.WriteByte('\n')
			}
			blank = true
			continue
		}
		blank = false
		out.WriteString(line + "\n")
	}
	return out.String()
}

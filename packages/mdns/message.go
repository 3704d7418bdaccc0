package mdns

import (
	"errors"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/scorel/scorel/packages/protocol/ident"
)

// Limits of messages. Longer ones are read in part, which makes them invalid.
const (
	maxMessage   = 9000
	maxQuestions = 16
	maxRecords   = 64
)

// version is the version of what a device announces.
const version = "v=1"

// Times to live of records, in seconds.
const (
	recordTTL = 120
	legacyTTL = 10 // for programs that ask once and keep no records
)

// flush is the bit of a class by which a record replaces others of its name.
const flush = 1 << 15

// names are the names of a device.
type names struct{ service, instance, host dnsmessage.Name }

func namesOf(device ident.ID) (n names, err error) {
	for text, name := range map[string]*dnsmessage.Name{
		service: &n.service, device.String() + "." + service: &n.instance, device.String() + ".local.": &n.host,
	} {
		if *name, err = dnsmessage.NewName(text); err != nil {
			return names{}, err
		}
	}
	return n, nil
}

func same(a, b dnsmessage.Name) bool { return strings.EqualFold(a.String(), b.String()) }

// question returns the question for all devices.
func question() ([]byte, error) {
	name, err := dnsmessage.NewName(service)
	if err != nil {
		return nil, err
	}
	m := dnsmessage.Message{Questions: []dnsmessage.Question{{Name: name, Type: dnsmessage.TypePTR, Class: dnsmessage.ClassINET}}}
	return m.Pack()
}

// answered returns the port at which an answer claims that a device listens, or 0.
func answered(data []byte, device ident.ID) uint16 {
	n, err := namesOf(device)
	if err != nil {
		return 0
	}
	var p dnsmessage.Parser
	header, err := p.Start(data)
	if err != nil || !header.Response || p.SkipAllQuestions() != nil {
		return 0
	}
	var at uint16
	known := false // the text record has our version and id
	records(&p, func(r dnsmessage.Resource) {
		if !same(r.Header.Name, n.instance) {
			return
		}
		switch body := r.Body.(type) {
		case *dnsmessage.SRVResource:
			if r.Header.TTL > 0 { // else it was withdrawn
				at = body.Port
			}
		case *dnsmessage.TXTResource:
			known = slices.Contains(body.TXT, version) && slices.Contains(body.TXT, "id="+device.String())
		}
	})
	if !known {
		return 0
	}
	return at
}

// records calls take with the records of a message, up to the first that is not valid.
func records(p *dnsmessage.Parser, take func(dnsmessage.Resource)) {
	left := maxRecords
	for _, next := range []func() (dnsmessage.Resource, error){p.Answer, p.Authority, p.Additional} {
		for ; left > 0; left-- {
			r, err := next()
			if errors.Is(err, dnsmessage.ErrSectionDone) {
				break
			}
			if err != nil {
				return
			}
			take(r)
		}
	}
}

// asked returns the id of a query and its questions that are about a device; ok is false if
// there are none.
func asked(data []byte, n names) (id uint16, about []dnsmessage.Question, ok bool) {
	var p dnsmessage.Parser
	header, err := p.Start(data)
	if err != nil || header.Response || header.OpCode != 0 {
		return 0, nil, false
	}
	for range maxQuestions {
		q, err := p.Question()
		if err != nil {
			break
		}
		if n.match(q) {
			about = append(about, q)
		}
	}
	return header.ID, about, len(about) > 0
}

// match reports whether a question is about the device.
func (n names) match(q dnsmessage.Question) bool {
	of := func(name dnsmessage.Name, types ...dnsmessage.Type) bool {
		return same(q.Name, name) && (q.Type == dnsmessage.TypeALL || slices.Contains(types, q.Type))
	}
	if class := q.Class &^ flush; class != dnsmessage.ClassINET && class != dnsmessage.ClassANY {
		return false
	}
	return of(n.service, dnsmessage.TypePTR) || of(n.instance, dnsmessage.TypeSRV, dnsmessage.TypeTXT) || of(n.host, dnsmessage.TypeA)
}

// reply is what a device announces at one address.
type reply struct {
	names
	device ident.ID
	at     netip.AddrPort
	ttl    uint32

	// For a program that asks once: its id and questions are repeated.
	legacy    bool
	id        uint16
	questions []dnsmessage.Question
}

func (r reply) pack() ([]byte, error) {
	class := dnsmessage.Class(dnsmessage.ClassINET)
	header := func(name dnsmessage.Name, unique bool) dnsmessage.ResourceHeader {
		h := dnsmessage.ResourceHeader{Name: name, Class: class, TTL: r.ttl}
		if unique && !r.legacy {
			h.Class |= flush
		}
		return h
	}
	m := dnsmessage.Message{Header: dnsmessage.Header{Response: true, Authoritative: true}}
	if r.legacy {
		m.ID, m.Questions = r.id, r.questions
		for i := range m.Questions {
			m.Questions[i].Class &^= flush
		}
	}
	m.Answers = []dnsmessage.Resource{
		{Header: header(r.service, false), Body: &dnsmessage.PTRResource{PTR: r.instance}},
		{Header: header(r.instance, true), Body: &dnsmessage.SRVResource{Port: r.at.Port(), Target: r.host}},
		{Header: header(r.instance, true), Body: &dnsmessage.TXTResource{TXT: []string{version, "id=" + r.device.String()}}},
		{Header: header(r.host, true), Body: &dnsmessage.AResource{A: r.at.Addr().As4()}},
	}
	return m.Pack()
}

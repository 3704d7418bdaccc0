package store

import (
	"encoding/json"

	"github.com/scorel/scorel/packages/protocol/session"
)

// linker adds the members that chain a new line to the previous one. The session adopts its
// value only after the line is stored.
type linker struct {
	sessionID string
	prev      session.ChainValue
	sign      Signer // nil leaves the line unsigned
	value     session.ChainValue
}

// linker chains the next line to the last stored one.
func (s *Session) linker(step bool) *linker {
	if s.chain == nil {
		prev := s.file.ChainPrev()
		s.chain = &prev
	}
	l := &linker{sessionID: s.Header().ID, prev: *s.chain}
	if !step {
		l.sign = s.sign
	}
	return l
}

func (l *linker) link(line []byte) (json.RawMessage, error) {
	if l.sign != nil && len(line) > 0 {
		signed, ok := session.AddHead(line, l.sign(session.HeadMessage(l.sessionID, l.prev, line[:len(line)-1])))
		if !ok {
			return nil, ErrBadLine
		}
		line = signed
	}
	linked, value, ok := session.Link(l.prev, line)
	if !ok {
		return nil, ErrBadLine
	}
	l.value = value
	return linked, nil
}

// chainAt returns the chain value of an entry's line; "" if it has none.
func (s *Session) chainAt(id string) string {
	entry, ok := s.Tree().Get(id)
	if !ok {
		return ""
	}
	_, value, ok := session.SplitChain(entry.Raw)
	if !ok {
		return ""
	}
	return value.String()
}

// chainAll chains the lines of a new session with the given id, after its header.
func (s *Session) chainAll(id string, header []byte, lines []json.RawMessage) error {
	prev := session.AnchorOf(append(header[:len(header):len(header)], '\n'))
	for i, line := range lines {
		l := &linker{sessionID: id, prev: prev}
		if i == len(lines)-1 {
			l.sign = s.sign
		}
		linked, err := l.link(append([]byte(nil), line...)) // the line may share memory with the session
		if err != nil {
			return err
		}
		lines[i], prev = linked, l.value
	}
	return nil
}

package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// creator creates sessions, each once for a client key.
type creator struct {
	*pool
	announcer *announcer

	creating sync.Mutex // held while a session is stored for the first time
}

// Create creates a session in a project. The same clientKey returns the same session.
func (c *creator) Create(ctx context.Context, project api.Project, clientID string, r api.CreateSessionRequest) (api.SessionSummary, error) {
	summary, _, err := c.CreateOnce(ctx, project, clientID, r)
	return summary, err
}

// CreateOnce is Create, and reports whether this call created the session.
func (c *creator) CreateOnce(ctx context.Context, project api.Project, clientID string, r api.CreateSessionRequest) (summary api.SessionSummary, isNew bool, err error) {
	choice, err := c.choose(project, r)
	if err != nil {
		return summary, false, err
	}
	place := inProject
	if r.Worktree {
		place = c.deps.inWorktree(project)
	}
	s, isNew, err := c.create(ctx, project, session.Header{ClientKey: r.ClientKey}, place, func(ctx context.Context, o opening) error {
		o.clientID = clientID
		return o.settings(ctx, choice)
	})
	if err != nil {
		return summary, false, err
	}
	if !isNew && s.project.ID != project.ID { // its client may not see that project
		return summary, false, usedKey()
	}
	summary, err = s.Summary(ctx)
	return summary, isNew, err
}

func usedKey() error {
	return api.Errorf(api.KindConflict, "this clientKey belongs to a request for another project: use a new one")
}

// choice is what is chosen for a new session.
type choice struct {
	agent   string // "" is none
	model   api.Model
	mode    api.Mode
	backend string // "" is the host's own agent
}

// choose checks a request for a session and completes it with the defaults.
func (c *creator) choose(project api.Project, r api.CreateSessionRequest) (choice, error) {
	chosen := choice{agent: r.Agent, mode: cmp.Or(c.deps.Mode, api.ModeAsk), backend: ownBackend(r.Backend)}
	if r.ClientKey == "" || len(r.ClientKey) > api.MaxClientKey {
		return chosen, api.Errorf(api.KindBadRequest, "clientKey must have 1 to %d bytes", api.MaxClientKey)
	}
	model := r.Model
	if r.Agent != "" {
		if chosen.backend != "" {
			return chosen, foreignPersona(r.Agent)
		}
		persona, err := c.deps.findAgent(project, r.Agent)
		if err != nil {
			return chosen, err
		}
		model = cmp.Or(model, persona.Model)
	}
	var err error
	if _, chosen.model, err = c.deps.Models.Model(cmp.Or(model, c.deps.Models.Default())); err != nil {
		return chosen, err
	}
	return chosen, c.deps.checkBackend(r.Backend)
}

// opening appends the first entries of a new session. They are stored together with its header,
// so that no session exists without its agent, mode and model, however its request ends.
type opening struct {
	*store.Session
	clientID string
}

func (o opening) mark() store.Mark { return store.Mark{Seq: o.LastSeq() + 1, ClientID: o.clientID} }

func (o opening) custom(ctx context.Context, customType string, data any) error {
	raw, err := session.Encode(data)
	if err == nil {
		_, err = o.AppendCustom(ctx, o.mark(), customType, raw)
	}
	return err
}

// settings appends what was chosen. What a session has without an entry gets none.
func (o opening) settings(ctx context.Context, c choice) error {
	if c.agent != "" {
		if err := o.custom(ctx, session.CustomAgent, session.AgentRecord{Name: c.agent}); err != nil {
			return err
		}
	}
	if _, err := o.AppendModelChange(ctx, o.mark(), c.model.Provider, c.model.ID); err != nil {
		return err
	}
	if c.mode != api.ModeAsk {
		if err := o.custom(ctx, session.CustomMode, session.ModeRecord{Mode: string(c.mode)}); err != nil {
			return err
		}
	}
	if c.backend != "" {
		return o.custom(ctx, session.CustomBackend, session.BackendRecord{Kind: session.BackendChosen, Backend: c.backend})
	}
	return nil
}

// newKnown returns a new session with the given header as the lists show it, and its lines: the
// header and the entries that first appends.
func (c *creator) newKnown(ctx context.Context, project api.Project, header session.Header, first func(context.Context, opening) error) (*known, []json.RawMessage, error) {
	line, err := session.EncodeHeader(header)
	if err != nil {
		return nil, nil, err
	}
	file, err := session.ReadFile(append(line[:len(line):len(line)], '\n'))
	if err != nil {
		return nil, nil, err
	}
	log := &gathered{file: file, lines: []json.RawMessage{line}}
	if err := first(ctx, opening{Session: store.NewSession(log, store.WithSigner(c.deps.Sign))}); err != nil {
		return nil, nil, fmt.Errorf("sessions: writing the first entries: %w", err)
	}
	digest := index.DigestOf(header, file.Tree.Entries())
	k := &known{header: header, project: project, summary: summarize(&digest, project.ID, header, "", c.deps.Models)}
	k.summary.Worktree = c.deps.worktree(header.ID)
	return k, log.lines, nil
}

// create creates a session with the given header, and sets its id, time and project. first
// appends its first entries.
func (c *creator) create(ctx context.Context, project api.Project, header session.Header, place placing, first func(context.Context, opening) error) (s *Session, isNew bool, err error) {
	if s, err := c.made(header.ClientKey); s != nil || err != nil {
		return s, false, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, false, fmt.Errorf("sessions: creating an id: %w", err)
	}
	ended, err := place(ctx, id.String())
	if err != nil {
		return nil, false, err
	}
	defer func() { ended(isNew) }()
	header.Type, header.Version, header.ID = session.TypeSession, session.Version, id.String()
	header.Timestamp, header.Cwd, header.ProjectID = session.FormatTime(time.Now()), project.Path, project.ID
	k, lines, err := c.newKnown(ctx, project, header, first)
	if err != nil {
		return nil, false, err
	}
	if s, isNew, err = c.storeNew(ctx, k, lines); isNew {
		c.deps.markChanged(header.ID, project.ID)
		c.announcer.announceNew(header.ID)
	}
	return s, isNew, err
}

// storeNew stores a new session and starts it, unless the same request, sent twice, has created
// one meanwhile. The store may be slow, so mu is not held while it works: every session needs it.
func (c *creator) storeNew(ctx context.Context, k *known, lines []json.RawMessage) (s *Session, isNew bool, err error) {
	c.creating.Lock()
	defer c.creating.Unlock()
	if s, err := c.made(k.header.ClientKey); s != nil || err != nil {
		return s, false, err
	}
	log, err := c.provider.Create(ctx, k.project.ID, lines[0], lines[1:]...)
	if err != nil {
		return nil, false, clientError(err)
	}
	s, err = c.startNew(k, log)
	return s, err == nil, err
}

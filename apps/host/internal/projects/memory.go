package projects

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/memory"
	"github.com/scorel/scorel/packages/protocol/api"
)

// memoryRequests are the requests about notes and the journal.
type memoryRequests struct {
	*shared
	notes *memory.Notes
}

func (m *memoryRequests) endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ListMemory, m.listMemory),
		dispatch.Serve(api.GetMemoryNote, m.getNote),
		dispatch.Serve(api.SaveMemoryNote, m.saveNote),
		dispatch.Serve(api.DeleteMemoryNote, m.deleteNote),
		dispatch.Serve(api.GetJournal, m.getJournal),
	}
}

// maxTitle bounds the title of a listed note, in characters.
const maxTitle = 200

// notes is where the notes of a scope are.
type notes struct {
	memory.Folder
	scope api.MemoryScope
}

// notesOf returns the notes of a scope.
func (m *memoryRequests) notesOf(scope api.MemoryScope, projectID string) (notes, error) {
	switch scope {
	case api.MemoryUser:
		return notes{m.notes.User(), scope}, nil
	case api.MemoryProject:
		project, err := m.list.Find(projectID)
		if err != nil {
			return notes{}, err
		}
		path := project.Path
		if real, err := filepath.EvalSymlinks(path); err == nil { // as the tools of its sessions see it
			path = real
		}
		return notes{m.notes.Project(path), scope}, nil
	}
	return notes{}, api.Errorf(api.KindBadRequest, "unknown scope %.40q: use project or user", scope)
}

func (m *memoryRequests) listMemory(_ context.Context, _ *dispatch.Conn, r api.ListMemoryRequest) (api.ListMemoryResponse, error) {
	scopes := []api.MemoryScope{api.MemoryProject, api.MemoryUser}
	if r.ProjectID == "" {
		scopes = scopes[1:]
	}
	response := api.ListMemoryResponse{Notes: []api.MemoryNote{}}
	for _, scope := range scopes {
		n, err := m.notesOf(scope, r.ProjectID)
		if err != nil {
			return api.ListMemoryResponse{}, err
		}
		list, err := n.List()
		if err != nil {
			return api.ListMemoryResponse{}, refused(err, "")
		}
		for _, each := range list {
			response.Notes = append(response.Notes, n.described(each))
		}
	}
	return response, nil
}

func (n notes) described(note memory.Note) api.MemoryNote {
	title := []rune(note.Title())
	if len(title) > maxTitle {
		title = append(title[:maxTitle-1], '…')
	}
	return api.MemoryNote{
		Name: note.Name, Scope: n.scope, Title: string(title), Path: n.Path(note.Name), Version: note.Version, ModifiedAt: note.Modified,
	}
}

func (n notes) answer(note memory.Note, name string, err error) (api.MemoryNoteResponse, error) {
	if err != nil {
		return api.MemoryNoteResponse{}, refused(err, name)
	}
	return api.MemoryNoteResponse{Note: n.described(note), Text: note.Text, Partial: !note.Whole}, nil
}

func (m *memoryRequests) getNote(_ context.Context, _ *dispatch.Conn, r api.MemoryNoteRequest) (api.MemoryNoteResponse, error) {
	n, err := m.notesOf(r.Scope, r.ProjectID)
	if err != nil {
		return api.MemoryNoteResponse{}, err
	}
	note, err := n.Get(r.Name)
	return n.answer(note, r.Name, err)
}

// mayWrite returns an error for a connection that may not change notes of a scope: those of
// the user are read in every project.
func mayWrite(c *dispatch.Conn, scope api.MemoryScope) error {
	if scope == api.MemoryProject {
		return nil
	}
	return c.CheckWhole("a note of this scope applies to")
}

func (m *memoryRequests) saveNote(_ context.Context, c *dispatch.Conn, r api.SaveMemoryNoteRequest) (api.MemoryNoteResponse, error) {
	if err := mayWrite(c, r.Scope); err != nil {
		return api.MemoryNoteResponse{}, err
	}
	n, err := m.notesOf(r.Scope, r.ProjectID)
	if err != nil {
		return api.MemoryNoteResponse{}, err
	}
	if strings.TrimSpace(r.Text) == "" {
		return api.MemoryNoteResponse{}, api.Errorf(api.KindBadRequest, "the note is empty: delete it instead")
	}
	note, err := n.Save(r.Name, r.Text, memory.Version(r.Version))
	if errors.Is(err, memory.ErrMissing) {
		err = api.Errorf(api.KindConflict, "the note %.80s was deleted in the meantime: save it as a new note", r.Name)
	}
	if err == nil {
		m.log.Info("a note was saved", "path", n.Path(r.Name), "client", c.ClientID())
	}
	return n.answer(note, r.Name, err)
}

func (m *memoryRequests) deleteNote(_ context.Context, c *dispatch.Conn, r api.DeleteMemoryNoteRequest) (api.Empty, error) {
	if err := mayWrite(c, r.Scope); err != nil {
		return none, err
	}
	n, err := m.notesOf(r.Scope, r.ProjectID)
	if err != nil {
		return none, err
	}
	if err := n.Delete(r.Name, memory.Version(r.Version)); err != nil {
		return none, refused(err, r.Name)
	}
	m.log.Info("a note was deleted", "path", n.Path(r.Name), "client", c.ClientID())
	return none, nil
}

func (m *memoryRequests) getJournal(_ context.Context, _ *dispatch.Conn, r api.GetJournalRequest) (api.GetJournalResponse, error) {
	n, err := m.notesOf(api.MemoryProject, r.ProjectID)
	if err != nil {
		return api.GetJournalResponse{}, err
	}
	days, err := n.Journal().Days()
	response := api.GetJournalResponse{Days: append([]string{}, days...), Day: r.Day}
	if err != nil {
		return response, refused(err, "")
	}
	if response.Day == "" && len(days) > 0 {
		response.Day = days[0]
	}
	if response.Day == "" {
		return response, nil
	}
	response.Text, err = n.Journal().Day(response.Day)
	if errors.Is(err, memory.ErrMissing) {
		return response, api.Errorf(api.KindNotFound, "the journal has no entry for %.20q: `scorel memory journal --json` lists its days", response.Day)
	}
	if err != nil {
		return response, refused(err, "")
	}
	return response, nil
}

// refused describes why a request about a note failed.
func refused(err error, name string) error {
	var known *api.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, memory.ErrMissing):
		return api.Errorf(api.KindNotFound, "there is no note %.80q: `scorel memory list` lists the notes", name)
	case errors.Is(err, memory.ErrChanged):
		return api.Errorf(api.KindConflict, "the note %.80s was changed in the meantime: read it again and repeat the change", name)
	case errors.Is(err, memory.ErrExists):
		return api.Errorf(api.KindConflict, "there is already a note %.80s: edit that note, or choose another name", name)
	case errors.Is(err, memory.ErrFull):
		return api.Errorf(api.KindTooLarge, "%v", err)
	case errors.Is(err, memory.ErrName), errors.Is(err, memory.ErrText), errors.Is(err, memory.ErrTooLong):
		return api.Errorf(api.KindBadRequest, "%v", err)
	}
	return api.Errorf(api.KindUnavailable, "%v", err)
}

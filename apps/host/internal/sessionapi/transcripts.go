package sessionapi

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/transcripts"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// mayRead refuses connections that may not read files: conversations hold what was read.
func mayRead(c *dispatch.Conn, from string) (transcripts.Source, error) {
	if !c.May(api.GrantFiles) {
		return "", api.Errorf(api.KindNotAllowed, "conversations of other agents can be listed and imported only with the grant %q: give it to this client on the host's machine", api.GrantFiles)
	}
	source := transcripts.Source(from)
	if !slices.Contains(transcripts.Sources(), source) {
		return "", api.Errorf(api.KindBadRequest, "%.40q is not an agent whose conversations can be imported: use one of %s", from, api.Names(transcripts.Sources()))
	}
	return source, nil
}

func (s *Sessions) listTranscripts(ctx context.Context, c *dispatch.Conn, r api.ListTranscriptsRequest) (response api.ListTranscriptsResponse, _ error) {
	source, err := mayRead(c, r.From)
	if err != nil {
		return response, err
	}
	if r.Offset < 0 || r.Limit < 0 {
		return response, api.Errorf(api.KindBadRequest, "offset and limit must not be negative")
	}
	list, damaged, err := s.foreign.List(ctx, source)
	if err != nil {
		return response, transcriptError(err)
	}
	words := strings.Fields(strings.ToLower(r.Query))
	matching := []api.Transcript{}
	for _, info := range list {
		t := s.shown(info)
		if (r.ProjectID == "" || t.ProjectID == r.ProjectID) && hasWords(t, words) {
			matching = append(matching, t)
		}
	}
	if r.Limit == 0 || r.Limit > api.MaxTranscripts {
		r.Limit = api.MaxTranscripts
	}
	first := min(r.Offset, len(matching))
	response.Transcripts = matching[first:min(first+r.Limit, len(matching))]
	response.Total, response.Damaged = len(matching), damaged
	return response, nil
}

func hasWords(t api.Transcript, words []string) bool {
	text := strings.ToLower(t.Title + "\n" + t.Folder + "\n" + t.ID)
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

// shown describes a conversation for a client.
func (s *Sessions) shown(info transcripts.Info) api.Transcript {
	t := api.Transcript{
		From: string(info.Source), ID: info.ID, Title: info.Title, Folder: info.Folder, Version: info.Version,
		UpdatedAt: info.Updated.UnixMilli(), Bytes: info.Bytes,
	}
	if !info.Created.IsZero() {
		t.CreatedAt = info.Created.UnixMilli()
	}
	if project, ok := s.containing(info.Folder); ok {
		t.ProjectID = project.ID
	}
	id := transcripts.SessionID(info.Source, info.ID)
	if _, known := s.manager.ProjectOf(id); known {
		t.SessionID = id
	}
	return t
}

// containing returns the project with the longest path that contains a folder.
func (s *Sessions) containing(folder string) (found api.Project, ok bool) {
	if folder == "" {
		return found, false
	}
	folder = filepath.Clean(folder)
	if canonical, err := state.Canonical(folder); err == nil { // it may have been deleted
		folder = canonical
	}
	for _, project := range s.projects.List() {
		inside := folder == project.Path || strings.HasPrefix(folder, strings.TrimSuffix(project.Path, string(filepath.Separator))+string(filepath.Separator))
		if inside && len(project.Path) > len(found.Path) {
			found, ok = project, true
		}
	}
	return found, ok
}

func (s *Sessions) importTranscript(ctx context.Context, c *dispatch.Conn, r api.ImportTranscriptRequest) (response api.ImportTranscriptResponse, _ error) {
	source, err := mayRead(c, r.From)
	if err != nil {
		return response, err
	}
	t, err := s.foreign.Read(ctx, source, r.ID)
	if err != nil {
		return response, transcriptError(err)
	}
	if len(t.Items) == 0 {
		return response, api.Errorf(api.KindBadRequest, "the conversation %.80q has no messages yet", r.ID)
	}
	project, err := s.projectFor(r, t.Info)
	if err != nil {
		return response, err
	}
	response.Outcome, response.Added, err = s.manager.ImportTranscript(ctx, project.ID, c.ClientID(), converted(t, ""))
	if err != nil {
		return response, err
	}
	counted(&response, t.Report)
	parent := transcripts.SessionID(source, t.ID)
	for _, child := range t.Children {
		if _, _, err := s.manager.ImportTranscript(ctx, project.ID, c.ClientID(), converted(child, parent)); err != nil {
			return response, err
		}
		response.Subagents++
		counted(&response, child.Report)
	}
	opened, err := s.manager.Open(parent)
	if err != nil {
		return response, err
	}
	response.Session, err = opened.Summary(ctx)
	return response, err
}

func counted(response *api.ImportTranscriptResponse, r transcripts.Report) {
	response.Damaged += r.Damaged
	response.Unknown += r.Unknown
	response.Omitted += r.Omitted
	response.Unfinished += r.Unfinished
}

// projectFor returns the project of an import: that of an earlier import, the one that the request
// names, or the one that contains the folder of the conversation.
func (s *Sessions) projectFor(r api.ImportTranscriptRequest, info transcripts.Info) (api.Project, error) {
	if id, known := s.manager.ProjectOf(transcripts.SessionID(info.Source, info.ID)); known {
		return api.Project{ID: id}, nil
	}
	if r.ProjectID != "" {
		return s.projects.Find(r.ProjectID)
	}
	if project, ok := s.containing(info.Folder); ok {
		return project, nil
	}
	return api.Project{}, api.Errorf(api.KindNotFound, "the conversation's folder %.200q is in no project of this host: add it as a project, or choose a project with --project", info.Folder)
}

// converted prepares a conversation for its session.
func converted(t transcripts.Transcript, parent string) sessions.Transcript {
	created := t.Created
	if created.IsZero() && len(t.Items) > 0 {
		created = t.Items[0].At
	}
	out := sessions.Transcript{
		Header: session.Header{
			Type: session.TypeSession, Version: session.Version, ID: transcripts.SessionID(t.Source, t.ID),
			Timestamp: session.FormatTime(created), Cwd: t.Folder, ChildOf: parent, ParentSession: parent,
		},
		Entries: make([]sessions.TranscriptEntry, 0, len(t.Items)),
		Record: session.ImportRecord{
			Source: string(t.Source), SessionID: t.ID, Folder: t.Folder, Version: t.Version,
			Damaged: t.Report.Damaged, Unknown: t.Report.Unknown, Omitted: t.Report.Omitted, Unfinished: t.Report.Unfinished,
		},
	}
	if t.Named {
		out.Title = t.Title
	}
	for _, item := range t.Items {
		out.Entries = append(out.Entries, sessions.TranscriptEntry{
			Parent: item.Parent, Given: store.Given{ID: item.ID, At: item.At, Encode: item.Encode},
		})
	}
	return out
}

// transcriptError turns an error of reading a conversation into one for a client.
func transcriptError(err error) error {
	switch {
	case errors.Is(err, transcripts.ErrNotFound):
		return api.Errorf(api.KindNotFound, "there is no such conversation on the host's machine: list them to see their ids")
	case errors.Is(err, transcripts.ErrTooLarge):
		return api.Errorf(api.KindTooLarge, "the conversation is too large to import: at most 1 GiB is read, and 256 MiB of content is stored")
	case errors.Is(err, transcripts.ErrUnreadable):
		return api.Errorf(api.KindBadRequest, "the conversation is in a format that this version does not know")
	}
	return err
}

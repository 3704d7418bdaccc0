package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/testdb"
)

// outageScene is a home with one project in files and one in a database.
type outageScene struct {
	t               *testing.T
	server          *testdb.Server
	cfg             host.Config
	inFiles, inRows string // ids of the projects

	client *client.Client
	events chan api.EventEnvelope
}

func newOutageScene(t *testing.T, kind testdb.Kind) *outageScene {
	name := map[testdb.Kind]string{testdb.KindPostgres: "postgres", testdb.KindMariaDB: "mysql"}[kind]
	s := &outageScene{t: t, server: testdb.Crashable(t, kind)}
	files, rows := t.TempDir(), t.TempDir()
	s.cfg = host.Config{Home: t.TempDir(), NoRelay: true, Projects: []string{files, rows}, Getenv: func(key string) string {
		if key == "SCOREL_SESSIONS_"+strings.ToUpper(name) {
			return s.server.DSN
		}
		return ""
	}}
	config := fmt.Sprintf("[projects.%q]\nsession_provider = %q\n", rows, name)
	if err := os.WriteFile(filepath.Join(s.cfg.Home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// run starts the host and returns what ends it.
func (s *outageScene) run() (end func()) {
	s.t.Helper()
	h, end := hosttest.Run(s.t, s.cfg)
	s.events = make(chan api.EventEnvelope, 10_000)
	events := s.events
	s.client = dial(s.t, h, func(e api.EventEnvelope) { events <- e })
	for _, p := range call(s.t, s.client, api.ListProjects, api.Empty{}).Projects {
		if p.Path == s.cfg.Projects[0] {
			s.inFiles = p.ID
		} else {
			s.inRows = p.ID
		}
	}
	return end
}

// outage tells why the database is unavailable, and that everything agrees on it.
func (s *outageScene) outage() string {
	s.t.Helper()
	info := call(s.t, s.client, api.GetHost, api.Empty{}).Host
	reason := ""
	for _, o := range info.Outages {
		reason = o.Reason
		if o.Place == "" || o.Since == 0 {
			s.t.Errorf("the outage %+v is incomplete", o)
		}
	}
	for _, p := range call(s.t, s.client, api.ListProjects, api.Empty{}).Projects {
		if p.ID == s.inFiles && p.Unavailable != "" || p.ID == s.inRows && (p.Unavailable == "") != (reason == "") {
			s.t.Errorf("outages are %+v, the project says %+v", info.Outages, p)
		}
	}
	return reason
}

// await waits until all clients learn that the database is available, or unavailable.
func (s *outageScene) await(available bool) {
	s.t.Helper()
	for {
		select {
		case e := <-s.events:
			changed, ok := e.Event.(api.ProjectsChanged)
			if !ok {
				continue
			}
			for _, p := range changed.Projects {
				if p.ID == s.inRows && (p.Unavailable == "") == available {
					return
				}
			}
		case <-s.t.Context().Done():
			s.t.Fatal("no client was notified")
		}
	}
}

// work makes a session and has a turn in it.
func (s *outageScene) work(projectID, key string) (sessionID string) {
	s.t.Helper()
	made := call(s.t, s.client, api.CreateSession, api.CreateSessionRequest{ProjectID: projectID, ClientKey: key})
	s.turn(made.Session.ID, key)
	return made.Session.ID
}

func (s *outageScene) turn(sessionID, key string) {
	s.t.Helper()
	call(s.t, s.client, api.ResyncEvents, api.ResyncEventsRequest{SessionID: sessionID})
	call(s.t, s.client, api.SendPrompt, api.SendPromptRequest{SessionID: sessionID, ClientKey: key, Text: "stream 2"})
	for {
		select {
		case e := <-s.events:
			if ended, ok := e.Event.(api.TurnEnded); ok && ended.ClientKey == key {
				if ended.Error != "" {
					s.t.Fatalf("the turn of %s: %s", key, ended.Error)
				}
				return
			}
		case <-s.t.Context().Done():
			s.t.Fatal("the turn does not end")
		}
	}
}

func (s *outageScene) listed() map[string]bool {
	s.t.Helper()
	ids := map[string]bool{}
	for _, session := range call(s.t, s.client, api.ListSessions, api.ListSessionsRequest{}).Sessions {
		ids[session.ID] = true
	}
	return ids
}

// refused checks that the requests for the database's sessions are refused by name, and
// that the other project works.
func (s *outageScene) refused(key string, ids ...string) {
	s.t.Helper()
	if s.outage() == "" {
		s.t.Error("no outage is shown")
	}
	_, err := client.Call(s.t.Context(), s.client, api.CreateSession, api.CreateSessionRequest{ProjectID: s.inRows, ClientKey: key})
	wantKind(s.t, err, api.KindUnavailable)
	if !strings.Contains(err.Error(), "is unavailable") {
		s.t.Errorf("create_session: %v", err)
	}
	for _, id := range ids {
		_, err = client.Call(s.t.Context(), s.client, api.ResyncEvents, api.ResyncEventsRequest{SessionID: id})
		wantKind(s.t, err, api.KindUnavailable)
	}
	gone := s.work(s.inFiles, key)
	call(s.t, s.client, api.DeleteSession, api.SessionRequest{SessionID: gone})
}

// TestADatabaseThatIsDown takes the database away before the host starts, while sessions
// are in it, and while the host runs: the rest works, and it comes back without help.
func TestADatabaseThatIsDown(t *testing.T) {
	for _, kind := range []testdb.Kind{testdb.KindPostgres, testdb.KindMariaDB} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			s := newOutageScene(t, kind)
			s.server.Kill()
			end := s.run()
			s.refused("first")
			_, err := client.Call(t.Context(), s.client, api.RemoveProject, api.RemoveProjectRequest{ProjectID: s.inRows})
			wantKind(t, err, api.KindUnavailable)

			s.server.Start()
			s.await(true)
			if why := s.outage(); why != "" {
				t.Errorf("still out: %s", why)
			}
			id := s.work(s.inRows, "k1")
			end()

			s.server.Kill()
			end = s.run()
			if !s.listed()[id] {
				t.Error("the session is not listed")
			}
			s.refused("second", id)
			s.server.Start()
			s.await(true)
			s.turn(id, "k2")

			s.server.Kill()
			s.await(false)
			s.refused("third")
			s.server.Start()
			s.await(true)
			s.turn(id, "k3")
			end()
		})
	}
}

package testdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// childEnv makes this test program a process that starts a server and then
// panics, or waits to be killed.
const childEnv = "TESTDB_CHILD"

func TestMain(m *testing.M) {
	if how := os.Getenv(childEnv); how != "" {
		child(how)
	}
	os.Exit(m.Run())
}

// child is told "KIND HOW".
func child(how string) {
	kind, how, _ := strings.Cut(how, " ")
	shared := sharedPostgres
	if kind == string(KindMariaDB) {
		shared = sharedMariaDB
	}
	s, err := shared()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(s.admin)
	if how == "panic" {
		panic("as requested")
	}
	select {}
}

func query(t *testing.T, dsn, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var answer string
	if err := conn.QueryRow(t.Context(), sql).Scan(&answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestEachTestHasItsOwnDatabase(t *testing.T) {
	first, second := Postgres(t), Postgres(t)
	if first == second {
		t.Fatalf("both are %s", first)
	}
	for _, dsn := range []string{first, second} {
		if n := query(t, dsn, `SELECT count(*)::text FROM pg_tables WHERE schemaname = 'public'`); n != "0" {
			t.Errorf("%s tables in a new database", n)
		}
	}
	if a, b := query(t, first, `SELECT current_database()`), query(t, second, `SELECT current_database()`); a == b {
		t.Errorf("both are in %s", a)
	}
	if enc := query(t, first, `SHOW server_encoding`); enc != "UTF8" {
		t.Errorf("encoding %s", enc)
	}
}

func TestDatabasesAreDropped(t *testing.T) {
	dsn, drop, err := Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	held, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close(context.Background())
	if err := drop(); err != nil {
		t.Fatalf("with a connected client: %v", err)
	}
	if conn, err := pgx.Connect(t.Context(), dsn); err == nil {
		_ = conn.Close(t.Context())
		t.Fatal("the database is still there")
	}
}

// TestTheServerEndsWithTheProcess holds the promise that matters on a machine that
// runs tests all day: no server and no files are left, whatever happens.
func TestTheServerEndsWithTheProcess(t *testing.T) {
	for _, kind := range []Kind{KindPostgres, KindMariaDB} {
		for _, how := range []string{"panic", "kill"} {
			t.Run(string(kind)+" "+how, func(t *testing.T) { testEnd(t, kind, how) })
		}
	}
}

func testEnd(t *testing.T, kind Kind, how string) {
	cmd := exec.Command(os.Args[0])
	// No container: its end is the business of its own keeper.
	cmd.Env = append(os.Environ(), childEnv+"="+string(kind)+" "+how, whereEnv+"=local")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var dsn string
	if _, err := fmt.Fscanln(out, &dsn); err != nil {
		t.Fatalf("the child said %q, %v", dsn, err)
	}
	dir := folderOf(t, dsn)
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	if how == "kill" {
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the child ended well")
	}
	awaitGone(t, dir)
}

// folderOf returns where a server's files are, from the URL of its socket.
func folderOf(t *testing.T, dsn string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	if u.Scheme == "postgres" {
		return u.Query().Get("host")
	}
	return filepath.Dir(u.Query().Get("socket"))
}

func TestEachMariaDBTestHasItsOwnDatabase(t *testing.T) {
	first, second := MariaDB(t), MariaDB(t)
	if first == second || !strings.HasPrefix(first, "mysql://") {
		t.Fatalf("they are %s and %s", first, second)
	}
	for _, dsn := range []string{first, second} {
		if err := execMySQL(t.Context(), dsn, `CREATE TABLE mine (id INT)`); err != nil {
			t.Errorf("in a database of its own: %v", err)
		}
	}
	dsn, drop, err := CreateMariaDB(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := drop(); err != nil {
		t.Fatal(err)
	}
	if err := execMySQL(t.Context(), dsn, `SELECT 1`); err == nil {
		t.Error("the database is still there")
	}
}

// TestACrash kills servers and finds what they had said is stored.
func TestACrash(t *testing.T) {
	for _, kind := range []Kind{KindPostgres, KindMariaDB} {
		t.Run(string(kind), func(t *testing.T) {
			s := Crashable(t, kind)
			exec := func(statement string) error { return s.server.engine.exec(t.Context(), s.DSN, statement) }
			if err := errors.Join(exec(`CREATE TABLE kept (id INT PRIMARY KEY)`), exec(`INSERT INTO kept VALUES (1)`)); err != nil {
				t.Fatal(err)
			}
			s.Kill()
			if err := exec(`SELECT 1`); err == nil {
				t.Fatal("a killed server answers")
			}
			s.Start()
			if err := exec(`INSERT INTO kept VALUES (1)`); err == nil {
				t.Error("the row is gone")
			}
		})
	}
}

// TestADaemonWithoutContainersIsNotTheEnd: a daemon answers but cannot run the
// image, as behind a firewall.
func TestADaemonWithoutContainersIsNotTheEnd(t *testing.T) {
	// It answers well enough that no other daemon is looked for.
	daemon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("API-Version", "1.41")
		switch {
		case strings.HasSuffix(r.URL.Path, "/_ping"):
		case strings.HasSuffix(r.URL.Path, "/info"):
			_, _ = w.Write([]byte("{}"))
		default:
			http.Error(w, `{"message":"no images here"}`, http.StatusInternalServerError)
		}
	}))
	defer daemon.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(KindPostgres)+" panic", "DOCKER_HOST=tcp://"+daemon.Listener.Addr().String(), whereEnv+"=")
	out, err := cmd.Output()
	if err == nil || !strings.HasPrefix(string(out), "postgres://postgres@/postgres?host=") {
		t.Fatalf("the child said %q, %v", out, err)
	}
}

// TestADaemonThatTakesAllTheTime: the daemon answers pings and hangs on everything
// else, as while it waits for a registry.
func TestADaemonThatTakesAllTheTime(t *testing.T) {
	ended := make(chan struct{})
	daemon := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/_ping") {
			<-ended
		}
	}))
	defer daemon.Close()
	defer close(ended)
	t.Setenv("DOCKER_HOST", "tcp://"+daemon.Listener.Addr().String())
	t.Setenv(whereEnv, "")
	s, err := postgresEngine.startWithin(time.Second, startTimeout)
	if err != nil {
		t.Fatal(err)
	}
	local := &Server{t: t, server: s}
	defer local.end()
	if s.admin.Query().Get("host") == "" {
		t.Errorf("%s is not a server of this machine", s.admin)
	}
}

func awaitGone(t *testing.T, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := poll(ctx, 5*time.Millisecond, func(context.Context) error {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s is still there (%v)", dir, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestPing(t *testing.T) {
	answer := func(handler http.HandlerFunc) string {
		srv := httptest.NewServer(handler)
		t.Cleanup(srv.Close)
		return "tcp://" + srv.Listener.Addr().String()
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close() // accepts in the kernel, and never answers
	for name, tc := range map[string]struct {
		host string
		ok   bool
	}{
		"answers": {answer(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/_ping" {
				http.NotFound(w, r)
			}
		}), true},
		"is broken":     {answer(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) }), false},
		"never answers": {"tcp://" + silent.Addr().String(), false},
		"no socket":     {"unix://" + filepath.Join(t.TempDir(), "docker.sock"), false},
		"strange":       {"ssh://box", false},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			if err := ping(t.Context(), tc.host); (err == nil) != tc.ok {
				t.Errorf("ping: %v", err)
			}
			if took := time.Since(began); took > 3*pingTimeout {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestDockerHost(t *testing.T) {
	dir := t.TempDir()
	socket, err := net.Listen("unix", filepath.Join(dir, "docker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for want, env := range map[string]map[string]string{
		"tcp://box:2375":                   {"DOCKER_HOST": "tcp://box:2375", "XDG_RUNTIME_DIR": dir},
		"unix://" + dir + "/docker.sock":   {"XDG_RUNTIME_DIR": dir},
		"unix:///" + "var/run/docker.sock": {"HOME": dir},
	} {
		if got := dockerHost(func(key string) string { return env[key] }); got != want {
			t.Errorf("%v: %s, want %s", env, got, want)
		}
	}
}

// TestTheContainerProgramBuilds keeps the way that needs Docker from rotting where
// there is none.
func TestTheContainerProgramBuilds(t *testing.T) {
	if err := buildContainer(t.Context(), filepath.Join(t.TempDir(), "program")); err != nil {
		t.Fatal(err)
	}
}

// TestAnOutageKeepsTheData: connections break, new ones are refused, and what was
// written is there afterwards, also for those who come through a proxy's address.
func TestAnOutageKeepsTheData(t *testing.T) {
	dsn := Postgres(t)
	held, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close(context.Background())
	if _, err := held.Exec(t.Context(), `CREATE TABLE kept AS SELECT 'here' AS word`); err != nil {
		t.Fatal(err)
	}
	Stop(t)
	if err := held.Ping(t.Context()); err == nil {
		t.Error("a connection outlived the server")
	}
	if conn, err := pgx.Connect(t.Context(), dsn); err == nil {
		_ = conn.Close(t.Context())
		t.Error("a server that is stopped takes connections")
	}
	Restart(t)
	Restart(t) // harmless
	network, address, err := Target()
	if err != nil {
		t.Fatal(err)
	}
	if network == "tcp" { // a container comes back elsewhere
		if dsn, err = Through(dsn, address); err != nil {
			t.Fatal(err)
		}
	}
	if got := query(t, dsn, `SELECT word FROM kept`); got != "here" {
		t.Errorf("read %q", got)
	}
	conn, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	other, err := Through(dsn, "127.0.0.1:1")
	if err != nil || !strings.Contains(other, "@127.0.0.1:1/") || strings.Contains(other, "host=") {
		t.Errorf("%q, %v", other, err)
	}
}

package service

import (
	"encoding/binary"
	"encoding/xml"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// units are all kinds of services, with words that need quotes.
func units(program string) []Unit {
	host := Unit{ID: ID{Role: Host}, Program: program, Args: []string{"host", "serve", "--label=my 100% \"desk\" $HOME\\"}, Folder: "/", Path: "/usr/bin:/my 100%"}
	system := host
	system.System, system.User = true, "daemon"
	relay := Unit{ID: ID{Role: Relay}, Program: program, Args: []string{"relay", "serve"}}
	hardened := relay
	hardened.System = true
	return []Unit{host, system, relay, hardened}
}

// TestSystemdAcceptsTheUnits: systemd itself reads them without a warning.
func TestSystemdAcceptsTheUnits(t *testing.T) {
	for i, u := range units("/bin/true") {
		path := filepath.Join(t.TempDir(), u.Name()+".service")
		if err := os.WriteFile(path, []byte(unitFile(u)), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"verify", "--man=no", path}
		if !u.System {
			args = append([]string{"--user"}, args...)
		}
		cmd := exec.Command("systemd-analyze", args...)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), u.Name()) {
			t.Errorf("unit %d: %v\n%s\n%s", i, err, out, unitFile(u))
		}
	}
}

// fake puts a program on the PATH that notes its arguments in a file, line by line.
func fake(t *testing.T, name, script string) (calls string) {
	t.Helper()
	folder := t.TempDir()
	calls = filepath.Join(folder, "calls")
	text := "#!/bin/sh\nprintf '%s|' \"$@\" >>" + calls + "\necho >>" + calls + "\n" + script
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	return calls
}

func readCalls(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestSystemUnitsAreOfTheSystem: in its folder, and without --user.
func TestSystemUnitsAreOfTheSystem(t *testing.T) {
	calls := fake(t, "systemctl", "")
	s := systemd{system: t.TempDir(), user: t.TempDir(), name: "ada"}
	u := units("/bin/true")[3]
	if err := s.Install(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.system, "scorel-relay.service")); err != nil {
		t.Error(err)
	}
	if err := s.Uninstall(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
	const want = "show|--property=Version|\ndaemon-reload|\nenable|scorel-relay.service|\nrestart|scorel-relay.service|\ndisable|--now|scorel-relay.service|\ndaemon-reload|\n"
	if got := readCalls(t, calls); got != want {
		t.Errorf("got %q", got)
	}
	if err := s.Uninstall(t.Context(), u.ID); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("got %v", err)
	}
	u.Args = append(u.Args, "--label=a\nUser=root")
	if err := s.Install(t.Context(), u); err == nil {
		t.Error("a line break got into a unit")
	}
}

// TestAServiceThatDoesNotStart: it is installed, and the error says that it failed.
func TestAServiceThatDoesNotStart(t *testing.T) {
	fake(t, "systemctl", "case \"$*\" in *restart*) echo 'Job for scorel-host.service failed.' >&2; exit 1 ;; esac\n")
	s := systemd{system: t.TempDir(), user: t.TempDir(), name: "ada"}
	u := units("/bin/true")[0]
	if err := s.Install(t.Context(), u); !errors.Is(err, ErrNotStarted) || !strings.Contains(err.Error(), "Job for scorel-host.service failed") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(s.file(u.ID)); err != nil {
		t.Error(err)
	}
}

// TestReadyIsReportedOnce: systemd gets one message, and commands of this process do not get its
// address.
func TestReadyIsReportedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	t.Setenv(readySocket, path)
	for range 2 {
		if err := Ready(); err != nil {
			t.Fatal(err)
		}
	}
	if err := socket.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	message := make([]byte, 100)
	if n, err := socket.Read(message); err != nil || string(message[:n]) != "READY=1" {
		t.Errorf("got %q, %v", message[:n], err)
	}
	if err := socket.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if n, err := socket.Read(message); err == nil {
		t.Errorf("got %q too", message[:n])
	}
	t.Setenv(readySocket, path+".gone")
	if err := Ready(); err == nil {
		t.Error("a socket that is not there was no error")
	}
}

// TestLaunchdRunsAgents: the property list has every word, and launchctl is asked in the domain of
// the user.
func TestLaunchdRunsAgents(t *testing.T) {
	calls := fake(t, "launchctl", "[ \"$1\" != print ] || printf 'x = {\\n\\tstate = running\\n\\tpid = 42\\n}\\n'\n")
	l := launchd{system: t.TempDir(), user: t.TempDir(), uid: 501}
	u := units("/opt/sc&rel")[0]
	if err := l.Install(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(l.user, "dev.scorel.host.plist")
	list := readCalls(t, path)
	for _, want := range []string{"<string>/opt/sc&amp;rel</string>", "<string>--label=my 100% &#34;desk&#34; $HOME\\</string>", "<key>SuccessfulExit</key><false/>"} {
		if !strings.Contains(list, want) {
			t.Errorf("no %s in\n%s", want, list)
		}
	}
	status, err := l.Status(t.Context(), u.ID)
	if err != nil || !status.Running || status.PID != 42 || status.File != path {
		t.Errorf("got %+v, %v", status, err)
	}
	if err := l.Uninstall(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
	want := "bootout|gui/501/dev.scorel.host|\nenable|gui/501/dev.scorel.host|\nbootstrap|gui/501|" + path + "|\nprint|gui/501/dev.scorel.host|\nprint|gui/501/dev.scorel.host|\nbootout|gui/501/dev.scorel.host|\n"
	if got := readCalls(t, calls); got != want {
		t.Errorf("got %q", got)
	}
	if err := l.Uninstall(t.Context(), u.ID); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("got %v", err)
	}
}

// TestTasksOfWindows: one task at login, whose command line keeps its words, on a system in another
// language than English.
func TestTasksOfWindows(t *testing.T) {
	calls := fake(t, "schtasks", `case $1 in
/Create) cp "$6" "$0.xml" ;;
/Query) echo '"PC","\scorel-host","N/A","Wird ausgeführt","Interaktiv","01.02.2026 10:00:00","267009","N/A"' ;;
esac
`)
	u := Unit{ID: ID{Role: Host}, Program: `C:\my scorel\scorel.exe`, Args: []string{"host", `--home=C:\ada "x"\`, "--label=" + strings.Repeat("long ", 100)}, Folder: `C:\ada`}
	s := schtasks{"S-1-5-21-1"}
	if err := s.Install(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	status, err := s.Status(t.Context(), u.ID)
	if err != nil || !status.Running {
		t.Errorf("got %+v, %v", status, err)
	}
	if err := s.Uninstall(t.Context(), u.ID); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"/Create|/F|/TN|scorel-host|/XML|", "/End|/TN|scorel-host|", "/Delete|/F|/TN|scorel-host|"} {
		if got := readCalls(t, calls); !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	expectTask(t, filepath.Join(filepath.Dir(calls), "schtasks.xml"), u)
}

// expectTask reads the file of a task as the Task Scheduler does.
func expectTask(t *testing.T, path string, u Unit) {
	t.Helper()
	data := readCalls(t, path)
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16([]byte(data[2*i:]))
	}
	if len(units) == 0 || units[0] != 0xfeff {
		t.Fatalf("the file begins with %.10q", data)
	}
	text := string(utf16.Decode(units[1:]))
	var task struct {
		Trigger string                                                `xml:"Triggers>LogonTrigger>UserId"`
		Limit   string                                                `xml:"Settings>ExecutionTimeLimit"`
		Exec    struct{ Command, Arguments, WorkingDirectory string } `xml:"Actions>Exec"`
	}
	// This package reads only UTF-8, into which the text is decoded already.
	if err := xml.Unmarshal([]byte(strings.Replace(text, "UTF-16", "UTF-8", 1)), &task); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if task.Trigger != "S-1-5-21-1" || task.Limit != "PT0S" || task.Exec.Command != u.Program || task.Exec.WorkingDirectory != u.Folder {
		t.Errorf("got %+v", task)
	}
	if want := `"host" "--home=C:\ada \"x\"\\" "--label=long long `; !strings.HasPrefix(task.Exec.Arguments, want) {
		t.Errorf("no %q in %q", want, task.Exec.Arguments)
	}
}

// TestWhatASystemCannotDo: a missing program is not a failure of the service.
func TestWhatASystemCannotDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s := systemd{system: t.TempDir(), user: t.TempDir()}
	if err := s.Install(t.Context(), units("/bin/true")[0]); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if _, err := s.Status(t.Context(), ID{Role: Host}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

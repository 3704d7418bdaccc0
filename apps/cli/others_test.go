package cli

import (
	"crypto/rand"
	"slices"
	"testing"

	"github.com/scorel/scorel/apps/cli/internal/devices"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// TestASearchCoversMachinesThatRun: the host of this machine is searched only if one runs, and no
// machine twice.
func TestASearchCoversMachinesThatRun(t *testing.T) {
	home := t.TempDir()
	a := &app{env: &environment{getenv: func(name string) string { return map[string]string{"SCOREL_HOME": home}[name] }}}
	keys, err := ident.Generate(ident.KindDevice, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	desk := keys.ID()
	err = devices.Add(devicesPath(home), devices.Device{ID: desk, Public: keys.Public(), Label: "desk", RelayURL: "https://relay.example", PairedAt: 1})
	if err != nil {
		t.Fatal(err)
	}
	others := &otherHosts{from: a.target(""), home: home, paired: map[string]*target{}}
	check := func(open string, want ...string) {
		t.Helper()
		var got []string
		for _, h := range others.list(open) {
			got = append(got, h.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("while %q is open, %q are searched, not %q", open, got, want)
		}
	}
	check("", "desk")
	check(desk.String())

	h, err := host.New(t.Context(), host.Config{Home: home, NoRelay: true, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	running := runHost(t.Context(), h)
	t.Cleanup(func() {
		if err := running.stop(); err != nil {
			t.Errorf("the host ended with %v", err)
		}
	})
	if err := running.ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("", "desk")
	check(desk.String(), "this machine")
	if first, again := others.target(desk.String()), others.target(desk.String()); first != again {
		t.Error("what is known about the paths to a machine is lost after each search")
	}
}

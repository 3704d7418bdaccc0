package devices

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/client/paths"
)

func TestPathsAreLearnedAndMeasured(t *testing.T) {
	file := filepath.Join(t.TempDir(), "devices.json")
	d := newDevice(t, "desk")
	if err := Add(file, d); err != nil {
		t.Fatal(err)
	}
	load := func() Device {
		t.Helper()
		list, err := Load(file)
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		return list[0]
	}
	paired := paths.Path{Kind: paths.Relay, URL: d.RelayURL}
	if got := load().Known(); !reflect.DeepEqual(got, []paths.Known{{Path: paired, Bound: true}}) {
		t.Fatalf("a device that was just paired has %+v", got)
	}
	second, near := paths.Path{Kind: paths.Relay, URL: "https://second.example"}, paths.Path{Kind: paths.Network, URL: "http://192.0.2.7:7411"}
	same := paths.Path{Kind: paths.Relay, URL: "wss://relay.example:443/"} // spelled differently
	proof := &Binding{SignedAt: 1, Signature: []byte("signature")}
	unused, err := Learn(file, d.ID, []paths.Path{same, second, near, near}, proof)
	if err != nil || !slices.Equal(unused, []paths.Path{same, second, near}) {
		t.Fatalf("to be measured are %v, %v", unused, err)
	}
	if err := Used(file, d.ID, second, 41500*time.Microsecond, time.UnixMilli(5)); err != nil {
		t.Fatal(err)
	}
	if err := Used(file, d.ID, paired, time.Millisecond, time.UnixMilli(6)); err != nil {
		t.Fatal(err)
	}
	got := load()
	want := []Path{{paths.Relay, same.URL, 1, 6}, {paths.Relay, second.URL, 41.5, 5}, {paths.Network, near.URL, 0, 0}}
	if !reflect.DeepEqual(got.Paths, want) || !reflect.DeepEqual(got.Binding, proof) {
		t.Fatalf("got %+v", got)
	}
	// The relay is gone from the report, but was paired on; the network path is gone.
	if unused, err = Learn(file, d.ID, []paths.Path{second}, nil); err != nil || !slices.Equal(unused, []paths.Path{paired}) {
		t.Fatalf("to be measured are %v, %v", unused, err)
	}
	if got = load(); len(got.Paths) != 1 || len(got.Known()) != 2 || got.Paths[0].UsedAt != 5 || got.Binding == nil {
		t.Errorf("got %+v", got)
	}
	if err := Used(file, d.ID, near, time.Millisecond, time.UnixMilli(7)); err != nil || len(load().Paths) != 2 { // found
		t.Errorf("%+v, %v", load(), err)
	}
	if err := Remove(file, d.ID); err != nil {
		t.Fatal(err)
	}
	if err := Used(file, d.ID, near, time.Millisecond, time.UnixMilli(8)); err != nil { // forgotten meanwhile
		t.Fatal(err)
	}
	if list, err := Load(file); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestReportedPathsAreLimited(t *testing.T) {
	file := filepath.Join(t.TempDir(), "devices.json")
	d := newDevice(t, "desk")
	if err := Add(file, d); err != nil {
		t.Fatal(err)
	}
	var many []paths.Path
	for i := range 3 * MaxPaths {
		many = append(many, paths.Path{Kind: paths.Relay, URL: "https://relay" + string(rune('a'+i)) + ".example"})
	}
	if _, err := Learn(file, d.ID, many, nil); err != nil {
		t.Fatal(err)
	}
	if list, err := Load(file); err != nil || len(list[0].Paths) != MaxPaths {
		t.Errorf("%v", err)
	}
}

// TestListenersOfOneMachine: a path that only programs of the device's machine reach is tried,
// but is a path of this machine only once it was reached.
func TestListenersOfOneMachine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "devices.json")
	d := newDevice(t, "desk")
	if err := Add(file, d); err != nil {
		t.Fatal(err)
	}
	here := paths.Path{Kind: paths.Machine, URL: "http://127.0.0.1:7411"}
	has := func() bool {
		list, err := Load(file)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(list[0].Known(), func(k paths.Known) bool { return k.Path == here })
	}
	unused, err := Learn(file, d.ID, []paths.Path{here}, nil)
	if err != nil || !slices.Contains(unused, here) || has() {
		t.Errorf("to be measured are %v, %v; it is known: %v", unused, err, has())
	}
	if err := Used(file, d.ID, here, time.Millisecond, time.UnixMilli(5)); err != nil || !has() {
		t.Errorf("it was reached and is not known: %v", err)
	}
}

// TestOldFilesOpen: a file that was written before there were paths.
func TestOldFilesOpen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "devices.json")
	data, err := os.ReadFile("../../e2e/testdata/earlier/client/devices.json")
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	list, err := Load(file)
	if err != nil || len(list) == 0 || len(list[0].Known()) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	before := list[0]
	if err := Used(file, before.ID, before.Known()[0].Path, time.Millisecond, time.UnixMilli(9)); err != nil {
		t.Fatal(err)
	}
	if list, err = Load(file); err != nil || list[0].Public != before.Public || list[0].PairedAt != before.PairedAt {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestChangesAtTheSameTime: no process undoes what another has written.
func TestChangesAtTheSameTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "devices.json")
	var running sync.WaitGroup
	for range 8 {
		d := newDevice(t, "desk")
		running.Go(func() {
			if err := Add(file, d); err != nil {
				t.Error(err)
			}
			if err := Used(file, d.ID, d.Known()[0].Path, time.Millisecond, time.UnixMilli(9)); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	list, err := Load(file)
	if err != nil || len(list) != 8 {
		t.Fatalf("%d devices are left, %v", len(list), err)
	}
	for _, d := range list {
		if len(d.Paths) != 1 {
			t.Errorf("%+v", d)
		}
	}
}

package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/cli/internal/doctor"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// diagnose probes the way of e to the host by a relay URL.
func (w *world) diagnose(t *testing.T, e *entry, relayURL string, device doctor.Device) (*doctor.Failure, []string) {
	t.Helper()
	var steps []string
	failure, err := doctor.Run(t.Context(), doctor.Options{
		RelayURL: relayURL,
		Keys:     func() (*ident.Private, error) { return e.keys, nil },
		Label:    "Test entry",
		Devices:  []doctor.Device{device},
		Proxy:    func(*http.Request) (*url.URL, error) { return nil, nil },
		Report: func(d *doctor.Device, step doctor.Step) {
			if d != nil {
				steps = append(steps, fmt.Sprintf("%s %s", step.Name, step.Status))
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return failure, steps
}

// paired is the device as the entry pinned it.
func (w *world) paired(t *testing.T, e *entry) doctor.Device {
	t.Helper()
	peers := e.Peers()
	i := slices.IndexFunc(peers, func(p wire.Peer) bool { return p.ID == w.id })
	if i < 0 {
		t.Fatal("the entry is not paired")
	}
	return doctor.Device{ID: w.id, Public: peers[i].Public, Label: "the host"}
}

func expectStop(t *testing.T, failure *doctor.Failure, step doctor.Name, finding doctor.Finding) {
	t.Helper()
	if failure == nil || failure.Device == nil || failure.Step.Name != step || failure.Step.Finding != finding {
		t.Fatalf("stopped at %+v, want %s with %s", failure, step, finding)
	}
	if failure.Step.Hint() == "" || failure.Step.Err == nil {
		t.Errorf("%s lacks a hint or a cause: %+v", finding, failure.Step)
	}
}

// TestDoctor takes one pairing through the faults that it can suffer, the lasting ones
// last: a pairing is dear.
func TestDoctor(t *testing.T) {
	var hostURL string
	w := newWorldBehind(t, func(relayURL string) string {
		m := newMiddle(t, relayURL)
		m.outgoing = func(data []byte) []byte { // the host's word on a binding never arrives
			if bytes.Contains(data, []byte(`"revoke_binding"`)) {
				return nil
			}
			return data
		}
		hostURL = m.URL
		return hostURL
	})
	e := w.pairEntry(t)
	device := w.paired(t, e)

	t.Run("reaches the host", func(t *testing.T) { doctorReachesTheHost(t, w, e, device) })
	t.Run("finds different keys", func(t *testing.T) {
		failure, _ := w.diagnose(t, e, w.relay.URL, foreign(t, device))
		expectStop(t, failure, doctor.StepBinding, doctor.BindingKeys)
	})
	t.Run("finds swapped keys", func(t *testing.T) { doctorFindsSwappedKeys(t, w, e, device) })
	t.Run("finds a changed handshake", func(t *testing.T) { doctorFindsAChangedHandshake(t, w, e, device) })
	t.Run("finds a host that is away", func(t *testing.T) {
		w.stopHost()
		awaitPresence(t, e, w.id, false)
		failure, _ := w.diagnose(t, e, w.relay.URL, device)
		expectStop(t, failure, doctor.StepPresence, doctor.PresenceOffline)
	})

	// The host comes back without its list of clients. The relay still holds the
	// binding, and the host has the last word.
	if err := os.Remove(filepath.Join(w.home, "scorel", "clients.json")); err != nil {
		t.Fatal(err)
	}
	w.startHost(t, hostURL)
	awaitPresence(t, e, w.id, true)
	t.Run("finds a host that lost its list", func(t *testing.T) {
		failure, _ := w.diagnose(t, e, w.relay.URL, device)
		expectStop(t, failure, doctor.StepSeal, doctor.SealRemoved)
		if !errors.Is(failure.Step.Err, doctor.ErrRefused) {
			t.Errorf("the cause is %v, want a refusal", failure.Step.Err)
		}
	})
	t.Run("finds a pairing that is gone", func(t *testing.T) { doctorFindsAPairingThatIsGone(t, w, e, device) })
}

func doctorReachesTheHost(t *testing.T, w *world, e *entry, device doctor.Device) {
	failure, steps := w.diagnose(t, e, w.relay.URL, device)
	if failure != nil {
		t.Fatalf("stopped at %+v", failure)
	}
	want := []string{"binding ok", "presence ok", "channel ok", "seal ok", "api ok"}
	if !slices.Equal(steps, want) {
		t.Errorf("got %q, want %q", steps, want)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	transport, err := e.OpenDevice(ctx, w.id, e.pin, "the host")
	if err != nil {
		t.Fatalf("the entry's own connection did not outlive the probe: %v", err)
	}
	_ = transport.Close() // it showed that it opens
}

// foreign is the device with another seal key than its own.
func foreign(t *testing.T, device doctor.Device) doctor.Device {
	t.Helper()
	other, err := ident.Generate(ident.KindDevice, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	device.Seal = other.Public().Seal
	return device
}

// doctorFindsSwappedKeys has a relay name other keys for the host. An id commits to
// its keys, so the lie shows before anything is asked.
func doctorFindsSwappedKeys(t *testing.T, w *world, e *entry, device doctor.Device) {
	swapped := foreign(t, device)
	m := newMiddle(t, w.relay.URL)
	m.frames = func(data []byte) []byte { return bytes.ReplaceAll(data, text(t, device.Seal), text(t, swapped.Seal)) }
	failure, _ := w.diagnose(t, e, m.URL, device)
	if failure == nil || failure.Step.Name != doctor.StepLogin || failure.Step.Finding != doctor.LoginBroken {
		t.Fatalf("stopped at %+v", failure)
	}
}

// text is a key as it is in a frame.
func text(t *testing.T, key ident.SealPublic) []byte {
	t.Helper()
	data, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// doctorFindsAChangedHandshake has something on the way change the host's answer.
func doctorFindsAChangedHandshake(t *testing.T, w *world, e *entry, device doctor.Device) {
	m := newMiddle(t, w.relay.URL)
	m.records = func(_ int, record wire.Record) []wire.Record {
		record.Payload = slices.Clone(record.Payload)
		record.Payload[0] ^= 1
		return []wire.Record{record}
	}
	failure, _ := w.diagnose(t, e, m.URL, device)
	expectStop(t, failure, doctor.StepSeal, doctor.SealBroken)
}

func doctorFindsAPairingThatIsGone(t *testing.T, w *world, e *entry, device doctor.Device) {
	if err := e.Revoke(t.Context(), w.id); err != nil {
		t.Fatal(err)
	}
	failure, steps := w.diagnose(t, e, w.relay.URL, device)
	expectStop(t, failure, doctor.StepBinding, doctor.BindingMissing)
	if want := []string{"binding failed", "presence skipped", "channel skipped", "seal skipped", "api skipped"}; !slices.Equal(steps, want) {
		t.Errorf("got %q, want %q", steps, want)
	}
}

// awaitPresence waits until the relay has told the entry that the device came or went.
func awaitPresence(t *testing.T, e *entry, id ident.ID, online bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		if slices.ContainsFunc(e.Peers(), func(p wire.Peer) bool { return p.ID == id && p.Online == online }) {
			return
		}
	}
	t.Fatalf("the relay did not tell that the device's presence is %t", online)
}

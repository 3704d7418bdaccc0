package archive

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// ErrStream is wrapped by errors of a stream that is not a complete export.
var ErrStream = errors.New("the export cannot be used")

// maxLine limits a line in bytes; the longest that Export writes has about 400.
const maxLine = 4096

// Read returns the rows of a stream. It stops at the first invalid line with an
// error that names it: data that decides who may reach whom is not guessed.
func Read(r io.Reader) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		d := decoder{lines: bufio.NewReaderSize(r, maxLine), known: map[ident.ID]bool{}}
		err := d.head()
		for err == nil && !d.ended {
			var row store.Row
			if row, err = d.next(); err == nil && row != nil && !yield(row, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, fmt.Errorf("%w: line %d: %w", ErrStream, d.line, err))
		}
	}
}

type decoder struct {
	lines   *bufio.Reader
	line    int // number of the line read last, from 1
	version int // of the stream
	known   map[ident.ID]bool
	count   store.Counts
	ended   bool
}

// read returns the next line and its type. The line is valid until the next read.
func (d *decoder) read() (line []byte, kind string, err error) {
	d.line++
	line, err = d.lines.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, "", fmt.Errorf("it is longer than %d bytes", maxLine)
	case errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) == 0:
		return nil, "", io.EOF
	case err != nil && !errors.Is(err, io.EOF):
		return nil, "", err
	}
	var typed struct {
		Type string `json:"type"`
	}
	if err := exactjson.Strict(line, &typed); err != nil {
		return nil, "", errors.New("it is not a JSON object with a type")
	}
	return line, typed.Type, nil
}

func (d *decoder) head() error {
	line, kind, err := d.read()
	if errors.Is(err, io.EOF) || err == nil && kind != typeHead {
		err = errors.New("this is not a relay's export: create one with `scorel relay store export`")
	}
	if err != nil {
		return err
	}
	head, err := parse[headLine](line)
	if err == nil && (head.Version < 1 || head.Version > Version) {
		err = fmt.Errorf("the export has version %d, and this scorel reads 1 to %d: update the older program", head.Version, Version)
	}
	d.version = head.Version
	return err
}

// next returns the next row, or nil at the end.
func (d *decoder) next() (store.Row, error) {
	line, kind, err := d.read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the export is incomplete: create it again")
	}
	if err != nil {
		return nil, err
	}
	var row store.Row
	switch kind {
	case typeDevice, typeClient:
		row, err = d.party(line, kind)
	case typeBinding:
		row, err = d.binding(line)
	case typeEvent:
		row, err = d.event(line)
	case typeEnd:
		return nil, d.end(line)
	default:
		if kind != typeInvite || d.version < withInvites {
			return nil, fmt.Errorf("unknown line type %q", kind)
		}
		row, err = d.invite(line)
	}
	if err != nil {
		return nil, err
	}
	d.count.Add(row, 1)
	return row, nil
}

func (d *decoder) party(line []byte, kind string) (store.Row, error) {
	l, err := parse[partyLine](line)
	if err != nil {
		return nil, err
	}
	keys := ident.Public{Sign: l.SignKey, Seal: l.SealKey}
	want := ident.KindDevice
	if kind == typeClient {
		want = ident.KindClient
	}
	if l.ID != ident.NewID(want, keys) {
		return nil, fmt.Errorf("%s is not the id of a %s with these keys", l.ID, kind)
	}
	if err := wire.CheckLabel(l.Label); err != nil {
		return nil, err
	}
	d.known[l.ID] = true
	return store.PartyRow{Party: store.Party{ID: l.ID, Public: keys, Label: l.Label}, Created: micros(l.CreatedAt)}, nil
}

func (d *decoder) binding(line []byte) (store.Row, error) {
	l, err := parse[bindingLine](line)
	if err != nil {
		return nil, err
	}
	if err := checkKinds(l.DeviceID, l.ClientID); err != nil {
		return nil, err
	}
	for _, id := range []ident.ID{l.DeviceID, l.ClientID} {
		if !d.known[id] {
			return nil, fmt.Errorf("no earlier line defines %s", id)
		}
	}
	row := store.BindingRow{Device: l.DeviceID, Client: l.ClientID, Created: micros(l.CreatedAt)}
	row.Revoked, err = ending(l.RevokedAt)
	return row, err
}

func (d *decoder) event(line []byte) (store.Row, error) {
	l, err := parse[eventLine](line)
	if err != nil {
		return nil, err
	}
	if err := checkKinds(l.DeviceID, l.ClientID); err != nil {
		return nil, err
	}
	if l.Action != store.ActionBound && l.Action != store.ActionRevoked {
		return nil, fmt.Errorf("unknown action %q", l.Action)
	}
	return store.Event{At: micros(l.At), Action: l.Action, Device: l.DeviceID, Client: l.ClientID, Actor: l.ActorID}, nil
}

func (d *decoder) invite(line []byte) (store.Row, error) {
	l, err := parse[inviteLine](line)
	if err != nil {
		return nil, err
	}
	row := store.Invite{ID: l.ID, Hash: l.Hash, Uses: l.Uses, Used: l.Used, Created: micros(l.CreatedAt)}
	if row.Expires, err = ending(l.ExpiresAt); err != nil {
		return nil, err
	}
	if row.Revoked, err = ending(l.RevokedAt); err != nil {
		return nil, err
	}
	return row, row.Check()
}

func (d *decoder) end(line []byte) error {
	l, err := parse[endLine](line)
	if err != nil {
		return err
	}
	if l.Counts != d.count {
		return errors.New("the export has too few or too many lines: create it again")
	}
	if _, _, err := d.read(); !errors.Is(err, io.EOF) {
		return errors.New("there is data after the last line")
	}
	d.ended = true
	return nil
}

func checkKinds(device, client ident.ID) error {
	if device.Kind() != ident.KindDevice || client.Kind() != ident.KindClient {
		return fmt.Errorf("%s and %s are not a device and a client", device, client)
	}
	return nil
}

// parse rejects unknown fields: a field that is ignored by an older program could
// be the one that ends a binding.
func parse[T any](line []byte) (T, error) {
	var v T
	if err := exactjson.Strict(line, &v); err != nil {
		return v, err
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		return v, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return v, errors.New("it contains more than one JSON value")
	}
	return v, nil
}

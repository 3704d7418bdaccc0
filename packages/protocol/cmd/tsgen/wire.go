package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// frames lists every control frame. wire() fails if the sources define another.
func frames() []wire.Frame {
	return []wire.Frame{
		wire.RelayHello{}, wire.Welcome{}, wire.HostHello{}, wire.EntryHello{},
		wire.CreatePairSession{}, wire.PairSession{}, wire.RedeemPair{}, wire.PairJoined{},
		wire.PairMessage{}, wire.PairAccept{}, wire.PairReject{}, wire.PairComplete{}, wire.PairClosed{},
		wire.OpenChannel{}, wire.ChannelOpened{}, wire.CloseChannel{}, wire.ChannelClosed{},
		wire.DeviceOnline{}, wire.DeviceOffline{}, wire.RevokeBinding{}, wire.BindingRevoked{},
		wire.ClaimBinding{}, wire.BindingClaimed{}, wire.PeerBound{},
		wire.ErrorFrame{}, wire.Goodbye{},
	}
}

func (g *generator) wire() error {
	var names []string
	for _, f := range frames() {
		names = append(names, reflect.TypeOf(f).Name())
	}
	if sorted := slices.Sorted(slices.Values(names)); !slices.Equal(sorted, g.sources["wire"].frames) {
		return fmt.Errorf("the list of frames is stale: it has %v, the sources have %v", sorted, g.sources["wire"].frames)
	}
	g.constants("wire", map[string]func(int) string{"Kind": func(n int) string { return wire.Kind(n).String() }})
	for _, f := range frames() {
		t := reflect.TypeOf(f)
		g.done[t] = true
		g.iface("wire", t.Name(), g.doc(t), fmt.Sprintf("  type: %s;\n", quote(f.FrameType())), g.fieldsOf(t))
	}
	g.flush()
	g.printf("wire", "/** Every control frame; `type` tells them apart. */\nexport type Frame =\n  | %s;\n\n", strings.Join(names, "\n  | "))
	g.frameFields()
	return nil
}

// frameFields writes what a decoder needs at run time: each field in order, its
// kind, and whether it may be absent.
func (g *generator) frameFields() {
	g.printf("wire", "/** The fields of each frame as a decoder checks them; a trailing ? marks an optional field. */\n")
	g.printf("wire", "export const frameFields = {\n")
	for _, f := range frames() {
		g.printf("wire", "  %s: %s,\n", f.FrameType(), g.schema(reflect.TypeOf(f)))
	}
	g.printf("wire", "} as const;\n")
}

func (g *generator) schema(t reflect.Type) string {
	var parts []string
	for _, f := range g.fieldsOf(t) {
		mark := ""
		if f.optional {
			mark = "?"
		}
		kind := scalarKind(f.typ)
		switch {
		case kind != "":
			parts = append(parts, fmt.Sprintf("%s: '%s%s'", f.json, kind, mark))
		case f.typ.Kind() == reflect.Slice:
			parts = append(parts, fmt.Sprintf("%s: [%s]", f.json, g.schema(f.typ.Elem())))
		default:
			parts = append(parts, fmt.Sprintf("%s: %s", f.json, g.schema(f.typ)))
		}
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

func scalarKind(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[ident.ID]():
		return "id"
	case reflect.TypeFor[ident.SignPublic](), reflect.TypeFor[ident.SealPublic]():
		return "key"
	case reflect.TypeFor[[]byte]():
		return "bytes"
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int64:
		return "int"
	case reflect.Uint32:
		return "u32"
	}
	return ""
}

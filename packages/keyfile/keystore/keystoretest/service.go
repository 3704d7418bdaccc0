// Package keystoretest runs a D-Bus daemon with a small Secret Service, so that
// tests use the real protocol and no person's key store.
package keystoretest

import (
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"

	"github.com/scorel/scorel/packages/dbustest"
)

const (
	name    = "org.freedesktop.secrets"
	root    = dbus.ObjectPath("/org/freedesktop/secrets")
	login   = root + "/collection/login"
	noPath  = dbus.ObjectPath("/")
	session = root + "/session/1"
	prompt  = root + "/prompt/1"
)

// Service is a Secret Service with one collection.
type Service struct {
	t    testing.TB
	conn *dbus.Conn

	mu     sync.Mutex
	locked bool
	items  map[dbus.ObjectPath]*item
	last   int
}

type item struct {
	service    *Service
	path       dbus.ObjectPath
	attributes map[string]string
	value      []byte
}

// secret is org.freedesktop.Secret's struct.
type secret struct {
	Session     dbus.ObjectPath
	Parameters  []byte
	Value       []byte
	ContentType string
}

// Serve runs the service until the test ends, on a bus that this process and its
// children find in the environment. A process can have one bus.
func Serve(t testing.TB) *Service {
	t.Helper()
	address, conn := dbustest.Start(t)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
	s := &Service{t: t, conn: conn, items: map[dbus.ObjectPath]*item{}}
	s.export()
	return s
}

func (s *Service) export() {
	s.t.Helper()
	collections := prop.Map{"org.freedesktop.Secret.Service": {"Collections": {Value: []dbus.ObjectPath{login}}}}
	_, err := prop.Export(s.conn, root, collections)
	for _, object := range []struct {
		value any
		path  dbus.ObjectPath
		iface string
	}{{server{s}, root, "Service"}, {collection{s}, login, "Collection"}, {sessions{}, session, "Session"}, {prompter{}, prompt, "Prompt"}} {
		if err == nil {
			err = s.conn.Export(object.value, object.path, "org.freedesktop.Secret."+object.iface)
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
	dbustest.Own(s.t, s.conn, name)
}

// Lock makes every access wait for a person who never comes.
func (s *Service) Lock() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locked = true
}

// Unlock unlocks the service as a person would.
func (s *Service) Unlock() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locked = false
}

// Secrets returns the stored secrets by account.
func (s *Service) Secrets() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := map[string]string{}
	for _, i := range s.items {
		kept[i.attributes["username"]] = string(i.value)
	}
	return kept
}

// Clear removes all secrets.
func (s *Service) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.items)
}

type server struct{ s *Service }

func (server) OpenSession(string, dbus.Variant) (dbus.Variant, dbus.ObjectPath, *dbus.Error) {
	return dbus.MakeVariant(""), session, nil
}

func (v server) Unlock(objects []dbus.ObjectPath) ([]dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	if v.s.locked {
		return nil, prompt, nil
	}
	return objects, noPath, nil
}

type sessions struct{}

func (sessions) Close() *dbus.Error { return nil }

// prompter shows a prompt that is never completed.
type prompter struct{}

func (prompter) Prompt(string) *dbus.Error { return nil }

type collection struct{ s *Service }

func (c collection) SearchItems(attributes map[string]string) ([]dbus.ObjectPath, *dbus.Error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	found := []dbus.ObjectPath{}
	for path, i := range c.s.items {
		if maps.Equal(i.attributes, attributes) {
			found = append(found, path)
		}
	}
	return found, nil
}

func (c collection) CreateItem(properties map[string]dbus.Variant, value secret, replace bool) (dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	attributes, _ := properties["org.freedesktop.Secret.Item.Attributes"].Value().(map[string]string)
	for path, i := range c.s.items {
		if replace && maps.Equal(i.attributes, attributes) {
			i.value = value.Value
			return path, noPath, nil
		}
	}
	c.s.last++
	i := &item{c.s, dbus.ObjectPath(fmt.Sprintf("%s/%d", login, c.s.last)), attributes, value.Value}
	if err := c.s.conn.Export(i, i.path, "org.freedesktop.Secret.Item"); err != nil {
		return noPath, noPath, dbus.MakeFailedError(err)
	}
	c.s.items[i.path] = i
	return i.path, noPath, nil
}

// GetSecret is a method of org.freedesktop.Secret.Item.
func (i *item) GetSecret(session dbus.ObjectPath) (secret, *dbus.Error) {
	i.service.mu.Lock()
	defer i.service.mu.Unlock()
	return secret{session, []byte{}, i.value, "text/plain"}, nil
}

// Delete is a method of org.freedesktop.Secret.Item.
func (i *item) Delete() (dbus.ObjectPath, *dbus.Error) {
	i.service.mu.Lock()
	defer i.service.mu.Unlock()
	delete(i.service.items, i.path)
	return noPath, nil
}

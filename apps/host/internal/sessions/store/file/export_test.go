package file

import "os"

// Step is what a fault may happen at.
type Step struct {
	Name string
	File *os.File
	Data []byte
	At   int64
}

// SetFault lets fault decide about every step to the disk.
func (p *Provider) SetFault(fault func(Step) error) {
	p.disk.fault = nil
	if fault != nil {
		p.disk.fault = func(s step) error { return fault(Step{s.name, s.f, s.data, s.at}) }
	}
}

// Dir is where the provider keeps its sessions.
func (p *Provider) Dir() string { return p.dir }

// SyncData is the sync of an append.
var SyncData = syncData

// WithoutSync lets every sync do nothing.
func WithoutSync(p *Provider) { p.disk.noSync = true }

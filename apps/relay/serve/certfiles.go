package serve

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// lookEvery is the minimum time between checks of the files for changes.
const lookEvery = time.Second

// certFiles is a certificate in files. A handshake that finds them changed reads
// them again; an invalid new pair leaves the old one in use.
type certFiles struct {
	certFile, keyFile string
	log               *slog.Logger
	metrics           *metrics

	current atomic.Pointer[tls.Certificate]

	mu     sync.Mutex // one check at a time
	looked time.Time
	tried  pairStamp // the pair that was read last, valid or not
}

// pairStamp identifies one version of the two files.
type pairStamp struct{ cert, key fileStamp }

type fileStamp struct {
	changed time.Time
	size    int64
}

// get returns the certificate for a handshake.
func (f *certFiles) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if f.mu.TryLock() { // otherwise another handshake checks, and this one need not wait
		f.look()
		f.mu.Unlock()
	}
	return f.current.Load(), nil
}

// look reads the files if they have changed. f.mu must be held.
func (f *certFiles) look() {
	if time.Since(f.looked) < lookEvery {
		return
	}
	f.looked = time.Now()
	if now, err := f.stamp(); err != nil || now != f.tried {
		f.note(f.read())
	}
}

// reload reads the files now.
func (f *certFiles) reload() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.read()
	f.note(err)
	return err
}

// load reads the files for the first time.
func (f *certFiles) load() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read()
}

// note logs and counts the result of reading a new pair.
func (f *certFiles) note(err error) {
	f.metrics.reloaded(reloadCertificate, err)
	if err != nil {
		f.log.Error("the new certificate cannot be used; the old one stays in use", "error", err)
		return
	}
	f.log.Info("the certificate was reloaded", "expires", f.current.Load().Leaf.NotAfter)
}

// read makes the pair in the files the current one if it is valid. f.mu must be
// held.
func (f *certFiles) read() error {
	stamp, err := f.stamp()
	if err != nil {
		f.tried = pairStamp{}
		return err
	}
	f.tried = stamp // a write during the read changes the stamp
	cert, err := tls.LoadX509KeyPair(f.certFile, f.keyFile)
	if err != nil {
		return fmt.Errorf("reading the certificate %s and its key %s: %w", f.certFile, f.keyFile, err)
	}
	if expired := cert.Leaf.NotAfter; time.Now().After(expired) {
		return fmt.Errorf("the certificate %s expired on %s: replace it", f.certFile, expired.UTC().Format(time.DateOnly))
	}
	f.current.Store(&cert)
	f.metrics.sawCertificate("", cert.Leaf.NotAfter)
	return nil
}

func (f *certFiles) stamp() (pairStamp, error) {
	var out pairStamp
	for path, into := range map[string]*fileStamp{f.certFile: &out.cert, f.keyFile: &out.key} {
		info, err := os.Stat(path)
		if err != nil {
			return pairStamp{}, fmt.Errorf("reading the certificate: %w", err)
		}
		*into = fileStamp{info.ModTime(), info.Size()}
	}
	return out, nil
}

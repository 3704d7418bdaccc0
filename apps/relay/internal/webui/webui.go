// Package webui serves the files of the web UI and of the documentation.
package webui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// UI serves the web UI. Paths that name no file get index.html, because the page has its
// own routes.
type UI struct {
	files  fs.FS
	assets map[string]*asset // static after construction
}

// asset is one file, read and compressed at the first request.
type asset struct {
	name      string
	hasBrotli bool
	load      sync.Once
	err       error
	plain     []byte
	packed    []byte // gzip; nil if that saves nothing
	brotli    []byte // made by the build for what most people load; nil for other files
	etag      string
}

// brotliSuffix is that of the files that the build compressed with brotli.
const brotliSuffix = ".br"

const (
	indexFile = "index.html"
	// sessionFile is the same page, with the names of the files that a session needs, so that
	// the browser fetches them at once.
	sessionFile = "session.html"
	// guestFile is the page of guest links, at guestPage. It is not a part of the app.
	guestFile = "g.html"
	guestPage = "g"
)

// New returns a UI of the given files, which must include index.html. Without files it
// answers every request with 404.
func New(files fs.FS) (*UI, error) {
	ui := &UI{files: files}
	if files == nil {
		return ui, nil
	}
	var err error
	if ui.assets, err = assetsOf(files); err != nil {
		return nil, fmt.Errorf("reading the web UI: %w", err)
	}
	if ui.assets[indexFile] == nil {
		return nil, errors.New("the web UI has no index.html; build it first")
	}
	for name := range ui.assets {
		if base, ok := strings.CutSuffix(name, brotliSuffix); ok && ui.assets[base] != nil {
			ui.assets[base].hasBrotli = true
			delete(ui.assets, name)
		}
	}
	return ui, nil
}

// assetsOf returns the files by their names, which are read later.
func assetsOf(files fs.FS) (map[string]*asset, error) {
	assets := make(map[string]*asset)
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			assets[name] = &asset{name: name}
		}
		return err
	})
	return assets, err
}

func (ui *UI) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if ui.files == nil {
		http.Error(w, "This relay has no web UI. Use the scorel command, or a relay that serves the page.", http.StatusNotFound)
		return
	}
	name := strings.TrimPrefix(path.Clean("/"+req.URL.Path), "/")
	a := ui.assets[name]
	switch {
	case a != nil:
	case path.Ext(name) != "" || strings.HasPrefix(name, "assets/"):
		http.NotFound(w, req) // a page route has no extension; a stale script must not get HTML
		return
	default:
		a = ui.page(name)
	}
	a.send(ui.files, w, req)
}

// page returns the file for an address of the page.
func (ui *UI) page(name string) *asset {
	parts := strings.Split(name, "/")
	isSession := len(parts) == 4 && parts[0] == "d" && parts[2] == "s"
	if a := ui.assets[sessionFile]; isSession && a != nil {
		return a
	}
	if a := ui.assets[guestFile]; name == guestPage && a != nil {
		return a
	}
	return ui.assets[indexFile]
}

// send answers a request for the file, which it reads at the first one.
func (a *asset) send(files fs.FS, w http.ResponseWriter, req *http.Request) {
	a.load.Do(func() { a.err = a.read(files) })
	if a.err != nil {
		http.Error(w, "the file cannot be read", http.StatusInternalServerError)
		return
	}
	a.serve(w, req)
}

func (a *asset) read(files fs.FS) error {
	data, err := fs.ReadFile(files, a.name)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	a.plain, a.etag = data, hex.EncodeToString(sum[:12])
	if a.hasBrotli {
		if a.brotli, err = fs.ReadFile(files, a.name+brotliSuffix); err != nil {
			return err
		}
	}
	if !compressible(a.name) {
		return nil
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if packed.Len() < len(data) {
		a.packed = packed.Bytes()
	}
	return nil
}

func compressible(name string) bool {
	switch path.Ext(name) {
	case ".html", ".js", ".mjs", ".css", ".json", ".svg", ".webmanifest", ".map", ".txt", ".wasm":
		return true
	}
	return false
}

func (a *asset) serve(w http.ResponseWriter, req *http.Request) {
	h := w.Header()
	h.Set("Content-Type", contentType(a.name))
	if strings.HasPrefix(a.name, "assets/") { // their names contain their hash
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	h.Set("Vary", "Accept-Encoding")
	body, tag := a.plain, a.etag
	switch {
	case a.brotli != nil && accepts(req, "br"):
		body, tag = a.brotli, a.etag+"-br"
		h.Set("Content-Encoding", "br")
	case a.packed != nil && accepts(req, "gzip"):
		body, tag = a.packed, a.etag+"-gz"
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, req, a.name, time.Time{}, bytes.NewReader(body))
}

func contentType(name string) string {
	switch ext := path.Ext(name); ext {
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8" // the system's table may say otherwise
	case ".webmanifest":
		return "application/manifest+json"
	default:
		if t := mime.TypeByExtension(ext); t != "" {
			return t
		}
		return "application/octet-stream"
	}
}

func accepts(req *http.Request, encoding string) bool {
	for part := range strings.SplitSeq(req.Header.Get("Accept-Encoding"), ",") {
		coding, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if coding == encoding && strings.ReplaceAll(params, " ", "") != "q=0" {
			return true
		}
	}
	return false
}

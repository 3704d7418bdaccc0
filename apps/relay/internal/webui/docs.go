package webui

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// docsPath is where the documentation is served.
const docsPath = "/docs"

// docsPolicy gives the documentation an origin of its own. It shares its address with the web
// UI, whose keys its search must not reach.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"sandbox allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox"

// Docs serves the documentation below docsPath. The address of a page is the name of its file
// without .html.
type Docs struct {
	files  fs.FS
	assets map[string]*asset // static after construction
}

// NewDocs returns the documentation of the given files, which must include index.html. Without
// files it answers every request with 404.
func NewDocs(files fs.FS) (*Docs, error) {
	if files == nil {
		return &Docs{}, nil
	}
	assets, err := assetsOf(files)
	if err != nil {
		return nil, fmt.Errorf("reading the documentation: %w", err)
	}
	if assets[indexFile] == nil {
		return nil, errors.New("the documentation has no index.html; build it first")
	}
	return &Docs{files: files, assets: assets}, nil
}

func (d *Docs) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", docsPolicy)
	h.Del("Cross-Origin-Opener-Policy") // browsers refuse to show a sandboxed document that has it
	if d.files == nil {
		http.Error(w, "This program was built without the documentation (make build includes it). "+
			"Read it at https://github.com/scorel/scorel/tree/main/docs", http.StatusNotFound)
		return
	}
	name := strings.TrimPrefix(path.Clean(req.URL.Path), docsPath)
	switch {
	case name == "" && !strings.HasSuffix(req.URL.Path, "/"):
		http.Redirect(w, req, docsPath+"/", http.StatusMovedPermanently)
		return
	case name == "":
		name = indexFile
	case path.Ext(name) == "":
		name += ".html"
	}
	a := d.assets[strings.TrimPrefix(name, "/")]
	if a == nil {
		http.Error(w, "There is no such page. The documentation begins at "+docsPath+"/", http.StatusNotFound)
		return
	}
	a.send(d.files, w, req)
}

// Command tsgen writes the TypeScript types of the protocol and the OpenAPI
// document of its HTTP adapter from the Go types, so that they cannot drift
// apart. Run it in the root of this module:
//
//	go run ./cmd/tsgen
//
// It reads types and their JSON tags by reflection, and doc comments and constants
// from the Go sources. It writes one file per package under ts/src/gen,
// openapi/openapi.json, docs/openapi.json and the references in docs. The test of this
// package fails if a file is stale.
//
// The mapping: ids, keys and byte strings become string; json.RawMessage becomes
// unknown; omitempty becomes an optional property; a pointer without omitempty
// becomes T | null; a slice becomes T[], which our decoder never leaves null; typed
// string constants become a union of literals.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", filepath.Join("ts", "src", "gen"), "folder to write to")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "tsgen:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	files, err := generate(".")
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(out, name), text, 0o644); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	document, err := generateOpenAPI(".")
	if err != nil {
		return err
	}
	for _, name := range openapiFiles() {
		if err := os.WriteFile(name, document, 0o644); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	references, err := generateReferences(".")
	if err != nil {
		return err
	}
	for name, text := range references {
		if err := os.WriteFile(referencePath(".", name), text, 0o644); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}

// generate returns the text of every generated file by name. root is the folder of
// the module.
func generate(root string) (map[string][]byte, error) {
	g, err := readGenerator(root)
	if err != nil {
		return nil, err
	}
	for _, emit := range []func() error{g.wire, g.session, g.api} {
		if err := emit(); err != nil {
			return nil, err
		}
	}
	return g.render(), nil
}

// generateOpenAPI returns the text of the OpenAPI document.
func generateOpenAPI(root string) ([]byte, error) {
	g, err := readGenerator(root)
	if err != nil {
		return nil, err
	}
	return g.openapi()
}

// readGenerator returns a generator that has read the sources.
func readGenerator(root string) (*generator, error) {
	g := newGenerator()
	for _, name := range []string{"wire", "session", "api", "ident", "pair", "seal"} {
		src, err := readSource(filepath.Join(root, name))
		if err != nil {
			return nil, fmt.Errorf("reading package %s: %w", name, err)
		}
		g.sources[name] = src
	}
	g.readable()
	return g, nil
}

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// TestEveryNumberIsListed finds the exported constants without a type of their
// own, which are the numbers, in the sources.
func TestEveryNumberIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, n := range numbers() {
		listed[n.pkg+"."+n.name] = true
	}
	for _, folder := range []string{"ident", "wire", "pair", "seal", "api"} {
		files, err := filepath.Glob(filepath.Join("..", "..", folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range numericConstants(file) {
				if !listed[folder+"."+name] {
					t.Errorf("%s: the constant %s is not listed, so no reference has it", path, name)
				}
			}
		}
	}
}

func numericConstants(file *ast.File) []string {
	var names []string
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec)
			if value.Type != nil || len(value.Values) != 1 || isText(value.Values[0]) {
				continue
			}
			if name := value.Names[0]; name.IsExported() {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

func isText(expr ast.Expr) bool {
	literal, ok := expr.(*ast.BasicLit)
	return ok && literal.Kind == token.STRING
}

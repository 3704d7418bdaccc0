package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
)

// source is the part of a package that reflection cannot see: comments and
// constants.
type source struct {
	types    map[string]string            // type name -> doc
	fields   map[string]map[string]string // type name -> Go field name -> doc
	keys     map[string]map[string]string // type name -> Go field name -> JSON key
	consts   []constSpec                  // exported ones, in the order of the sources
	comments map[string]string            // exported constant -> doc, also of those without a value here
	frames   []string                     // types with a FrameType method
}

type constSpec struct {
	name  string
	typ   string // "" when untyped
	value constant.Value
	doc   string
}

func readSource(dir string) (*source, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go")) // sorted
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no Go files; run tsgen in the root of the module", dir)
	}
	src := &source{types: map[string]string{}, fields: map[string]map[string]string{}, keys: map[string]map[string]string{}, comments: map[string]string{}}
	values := constValues(fset, dir, files)
	for _, file := range files {
		for _, decl := range file.Decls {
			src.addDecl(decl, values)
		}
	}
	sort.Strings(src.frames)
	return src, nil
}

// constValues evaluates the package's constants. Imports stay unresolved: constants
// that need one (time.Second) are not meant for TypeScript.
func constValues(fset *token.FileSet, dir string, files []*ast.File) map[string]*types.Const {
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := conf.Check(dir, fset, files, nil) // errors are expected: the imports
	out := map[string]*types.Const{}
	for _, name := range pkg.Scope().Names() {
		if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok && c.Exported() {
			out[name] = c
		}
	}
	return out
}

type noImports struct{}

func (noImports) Import(path string) (*types.Package, error) {
	return nil, fmt.Errorf("%s is not loaded", path)
}

func (s *source) addDecl(decl ast.Decl, values map[string]*types.Const) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil && d.Name.Name == "FrameType" {
			if id, ok := d.Recv.List[0].Type.(*ast.Ident); ok {
				s.frames = append(s.frames, id.Name)
			}
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch sp := spec.(type) {
			case *ast.TypeSpec:
				s.addType(sp, d)
			case *ast.ValueSpec:
				s.addConst(sp, d, values)
			}
		}
	}
}

func (s *source) addType(spec *ast.TypeSpec, decl *ast.GenDecl) {
	doc := spec.Doc
	if doc == nil && !decl.Lparen.IsValid() {
		doc = decl.Doc
	}
	s.types[spec.Name.Name] = text(doc, spec.Comment)
	st, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	fields, keys := map[string]string{}, map[string]string{}
	for _, f := range st.Fields.List {
		for _, name := range f.Names {
			fields[name.Name] = text(f.Doc, f.Comment)
			keys[name.Name] = jsonKey(f.Tag)
		}
	}
	s.fields[spec.Name.Name], s.keys[spec.Name.Name] = fields, keys
}

// jsonKey returns the key that a tag gives a field, or "".
func jsonKey(tag *ast.BasicLit) string {
	if tag == nil {
		return ""
	}
	key, _, _ := strings.Cut(reflect.StructTag(strings.Trim(tag.Value, "`")).Get("json"), ",")
	return strings.TrimPrefix(key, "-")
}

func (s *source) addConst(spec *ast.ValueSpec, decl *ast.GenDecl, values map[string]*types.Const) {
	if decl.Tok != token.CONST {
		return
	}
	for _, name := range spec.Names {
		doc := text(spec.Comment)
		if doc == "" { // use the comment of the group
			doc = text(spec.Doc)
		}
		if doc == "" && !decl.Lparen.IsValid() {
			doc = text(decl.Doc)
		}
		s.comments[name.Name] = doc
		c, ok := values[name.Name]
		if !ok || c.Val().Kind() == constant.Unknown {
			continue
		}
		out := constSpec{name: name.Name, value: c.Val(), doc: doc}
		if named, ok := c.Type().(*types.Named); ok {
			out.typ = named.Obj().Name()
		}
		s.consts = append(s.consts, out)
	}
}

// text joins comments into plain lines.
func text(groups ...*ast.CommentGroup) string {
	var parts []string
	for _, g := range groups {
		if t := strings.TrimSpace(g.Text()); t != "" {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, "\n")
}

package apiguard

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// Surface lists what a package exports, a line for each name, field and method, sorted. A line changes when the
// compiler would see a change: a type, a signature, a constant's value, a struct tag. The parameters of functions and
// methods have no names. Packages below the module's path are written without it.
func Surface(module string, p *types.Package) []string {
	s := surface{qualifier: func(other *types.Package) string {
		if other == p {
			return ""
		}
		return strings.TrimPrefix(other.Path(), module+"/")
	}}
	scope := p.Scope()
	for _, name := range scope.Names() {
		if object := scope.Lookup(name); object.Exported() {
			s.object(object)
		}
	}
	slices.Sort(s.lines)
	return s.lines
}

type surface struct {
	qualifier types.Qualifier
	lines     []string
}

func (s *surface) add(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf(format, args...))
}

func (s *surface) object(o types.Object) {
	switch o := o.(type) {
	case *types.Const:
		s.add("const %s %s = %s", o.Name(), s.typed(o.Type()), o.Val().ExactString())
	case *types.Var:
		s.add("var %s %s", o.Name(), s.typed(o.Type()))
	case *types.Func:
		s.add("func %s%s", o.Name(), s.signature(o.Signature()))
	case *types.TypeName:
		s.typeName(o)
	}
}

func (s *surface) typeName(o *types.TypeName) {
	if o.IsAlias() {
		s.add("type %s = %s", o.Name(), s.typed(types.Unalias(o.Type())))
		return
	}
	named, ok := o.Type().(*types.Named)
	if !ok {
		return
	}
	name := o.Name() + s.parameters(named.TypeParams())
	switch under := named.Underlying().(type) {
	case *types.Struct:
		s.add("type %s struct", name)
		s.fields(o.Name(), under)
	case *types.Interface:
		s.interfaceOf(name, o.Name(), under)
		return // its methods are listed
	default:
		s.add("type %s %s", name, s.typed(under))
	}
	s.methods(named)
}

func (s *surface) fields(name string, under *types.Struct) {
	for i := range under.NumFields() {
		f := under.Field(i)
		if !f.Exported() {
			continue
		}
		kind, tag := "field", ""
		if f.Embedded() {
			kind = "embedded"
		}
		if t := under.Tag(i); t != "" {
			tag = " `" + t + "`"
		}
		s.add("type %s struct, %s %s %s%s", name, kind, f.Name(), s.typed(f.Type()), tag)
	}
}

func (s *surface) interfaceOf(name, short string, under *types.Interface) {
	s.add("type %s interface", name)
	for m := range under.Methods() {
		if m.Exported() {
			s.add("type %s interface, method %s%s", short, m.Name(), s.signature(m.Signature()))
		} else {
			s.add("type %s interface, unexported methods", short)
		}
	}
	for e := range under.EmbeddedTypes() {
		if _, plain := e.Underlying().(*types.Interface); !plain {
			s.add("type %s interface, constraint %s", short, s.typed(e))
		}
	}
}

// methods lists those of a pointer to the type, promoted ones too. The receiver says what has the method.
func (s *surface) methods(named *types.Named) {
	value := types.NewMethodSet(named)
	for selection := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		m, ok := selection.Obj().(*types.Func)
		if !ok || !m.Exported() {
			continue
		}
		receiver := "*" + named.Obj().Name()
		if value.Lookup(m.Pkg(), m.Name()) != nil {
			receiver = named.Obj().Name()
		}
		signature, ok := selection.Type().(*types.Signature)
		if ok {
			s.add("method (%s) %s%s", receiver, m.Name(), s.signature(signature))
		}
	}
}

func (s *surface) typed(t types.Type) string { return types.TypeString(t, s.qualifier) }

// signature writes a signature without the names of parameters and results.
func (s *surface) signature(f *types.Signature) string {
	results := s.tuple(f.Results(), false)
	switch f.Results().Len() {
	case 0:
		results = ""
	case 1:
		results = " " + results
	default:
		results = " (" + results + ")"
	}
	return s.parameters(f.TypeParams()) + "(" + s.tuple(f.Params(), f.Variadic()) + ")" + results
}

func (s *surface) tuple(t *types.Tuple, variadic bool) string {
	var words []string
	for v := range t.Variables() {
		word := s.typed(v.Type())
		if variadic && len(words) == t.Len()-1 {
			word = "..." + strings.TrimPrefix(word, "[]")
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

func (s *surface) parameters(list *types.TypeParamList) string {
	var words []string
	for p := range list.TypeParams() {
		words = append(words, p.Obj().Name()+" "+s.typed(p.Constraint()))
	}
	if len(words) == 0 {
		return ""
	}
	return "[" + strings.Join(words, ", ") + "]"
}

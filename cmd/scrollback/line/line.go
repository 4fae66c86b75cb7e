// Package line reads command lines: which command is meant, and its flags and arguments, which it puts into the
// fields of a struct. The struct is the description of the commands, too: help, completion and the manual page read
// it from [Node].
//
// A field that is exported is a flag, by its name in small letters with dashes; one of a struct that is embedded is
// one of the struct around it. Tags say more:
//
//	cmd          the field, a struct, is a command; with default:"1" or default:"withargs", the one that is meant where
//	             none is named, the second also where flags or arguments of its own are there
//	arg          an argument, which has to be there unless it is optional
//	name, short  another name, a name of one letter
//	help         what the help says of it: a name in the catalogue
//	placeholder  what stands for its value in the help
//	default      its value where none is given
//	enum         the values that it may have, separated by commas
//	sep          "none", if a value of a flag is not cut at commas into several, or that of a map at semicolons
//	xor          of flags with the same word here only one may be given
//	required     a flag that has to be there
//	passthrough  an argument that takes the rest of the line, flags too
//	hidden       left out of the help
//
// Words it adds: node (the program or a command), value (a flag's or an argument's), line (what was read).
//
// Invariants: no method is called by a name that is not written out, and no package of templates is linked, so that the
// linker leaves out what nothing calls: that is a sixth of the program.
//
// It may not know the commands, nor run them.
package line

import (
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

// Node is the program or a command.
type Node struct {
	Name, Help string
	Hidden     bool
	Parent     *Node // nil for the program
	Flags      []*Flag
	Positional []*Value
	Children   []*Node
	DefaultCmd *Node // the child that is meant where none is named, or nil

	takesAll bool // a default that may be left out before flags and arguments of its own
	target   reflect.Value
}

// Value is that of a flag or of an argument.
type Value struct {
	Name, Help string
	Flag       *Flag // nil for an argument
	Default    string
	HasDefault bool
	Enum       string
	Required   bool

	takesRest bool
	separator rune // -1 for none
	target    reflect.Value
	given     bool
}

// Flag is a value that is given by its name.
type Flag struct {
	*Value
	Short       rune // 0 for none
	PlaceHolder string
	Hidden      bool

	rival string // of the flags with the same rival only one is given
}

// Taker is a value that decides itself whether it takes what stands behind its flag.
type Taker interface {
	// Take sets the value. next is the word behind the flag, if there is one that may be its value; took says that it
	// is.
	Take(next string, there bool) (took bool)
}

// Read returns the commands that a struct describes. root points to it.
func Read(root any, name string) *Node {
	n := readNode(reflect.ValueOf(root).Elem())
	n.Name = name
	help := new(bool)
	asked := &Value{Name: "help", Help: "show-help", separator: -1, target: reflect.ValueOf(help).Elem()}
	asked.Flag = &Flag{Value: asked, Short: 'h'}
	n.Flags = append([]*Flag{asked.Flag}, n.Flags...)
	return n
}

// Command returns what a node's struct is: a pointer to it.
func (n *Node) Command() any { return n.target.Addr().Interface() }

// Leaves returns the commands below a node that have none below them, without hidden ones if hide is set.
func (n *Node) Leaves(hide bool) (out []*Node) {
	for _, c := range n.Children {
		switch {
		case hide && c.Hidden:
		case len(c.Children) == 0:
			out = append(out, c)
		default:
			out = append(out, c.Leaves(hide)...)
		}
	}
	return out
}

// allFlags returns the flags of a node and of what it stands below, which come first.
func (n *Node) allFlags() []*Flag {
	if n == nil {
		return nil
	}
	return append(n.Parent.allFlags(), n.Flags...)
}

func readNode(v reflect.Value) *Node {
	n := &Node{target: v}
	n.readFields(v)
	return n
}

func (n *Node) readFields(v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		_, isCommand := f.Tag.Lookup("cmd")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Struct && !isCommand:
			n.readFields(v.Field(i))
		case !f.IsExported():
		case isCommand:
			n.readCommand(f, v.Field(i))
		default:
			n.readValue(f, v.Field(i))
		}
	}
}

func (n *Node) readCommand(f reflect.StructField, v reflect.Value) {
	c := readNode(v)
	c.Name = nameOf(f)
	c.Help = f.Tag.Get("help")
	c.Parent = n
	_, c.Hidden = f.Tag.Lookup("hidden")
	n.Children = append(n.Children, c)
	if how, is := f.Tag.Lookup("default"); is {
		n.DefaultCmd = c
		c.takesAll = how == "withargs"
	}
}

func (n *Node) readValue(f reflect.StructField, v reflect.Value) {
	out := &Value{Name: nameOf(f), Help: f.Tag.Get("help"), Enum: f.Tag.Get("enum"), separator: ',', target: v}
	out.Default, out.HasDefault = f.Tag.Lookup("default")
	_, out.takesRest = f.Tag.Lookup("passthrough")
	switch {
	case f.Tag.Get("sep") == "none":
		out.separator = -1
	case v.Kind() == reflect.Map:
		out.separator = ';'
	}
	if _, isArgument := f.Tag.Lookup("arg"); isArgument {
		_, optional := f.Tag.Lookup("optional")
		out.Required = !optional
		n.Positional = append(n.Positional, out)
		return
	}
	_, out.Required = f.Tag.Lookup("required")
	out.Flag = &Flag{Value: out, PlaceHolder: f.Tag.Get("placeholder"), rival: f.Tag.Get("xor")}
	_, out.Flag.Hidden = f.Tag.Lookup("hidden")
	for _, r := range f.Tag.Get("short") {
		out.Flag.Short = r
	}
	n.Flags = append(n.Flags, out.Flag)
}

// nameOf returns the name that a field has on the line: that of its tag, or its own.
func nameOf(f reflect.StructField) string {
	if name := f.Tag.Get("name"); name != "" {
		return name
	}
	var b strings.Builder
	runes := []rune(f.Name)
	for i, r := range runes {
		begins := i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if begins {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// IsBool reports whether a flag needs no value.
func (v *Value) IsBool() bool {
	t := v.target.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Bool
}

// IsCumulative reports whether there may be several values.
func (v *Value) IsCumulative() bool {
	return v.target.Kind() == reflect.Slice || v.target.Kind() == reflect.Map
}

// Summary returns how a value stands on a line.
func (v *Value) Summary() string {
	switch {
	case v.Flag != nil && v.IsBool():
		return "--" + v.Name
	case v.Flag != nil:
		return "--" + v.Name + "=" + v.Flag.FormatPlaceHolder()
	}
	out := "<" + v.Name + ">"
	if v.IsCumulative() {
		out += " ..."
	}
	if !v.Required {
		out = "[" + out + "]"
	}
	return out
}

// label returns what an error calls a value.
func (v *Value) label() string {
	if v.Flag != nil {
		return "--" + v.Name
	}
	return v.Summary()
}

// FormatPlaceHolder returns what stands for the value of a flag.
func (f *Flag) FormatPlaceHolder() string {
	more := ""
	if f.target.Kind() == reflect.Slice && f.separator >= 0 {
		more = string(f.separator) + "..."
	}
	switch {
	case f.PlaceHolder != "":
		return f.PlaceHolder + more
	case f.HasDefault && f.target.Kind() == reflect.String:
		return strconv.Quote(f.Default) + more
	case f.HasDefault:
		return f.Default + more
	}
	return strings.ToUpper(f.Name) + more
}

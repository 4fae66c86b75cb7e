package line

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Line is what was read of a command line.
type Line struct {
	Root *Node
	Help bool // was asked for

	at    []*Node // the program, and the commands that were named or are meant
	steps []step
	words []string
	only  bool // no flags follow any more
}

// step is a part of the line, in the order in which they stand there: a command, or else a value.
type step struct {
	node  *Node
	value *Value
}

// Error is what is wrong with a line, and the line as far as it was read.
type Error struct {
	error
	Line *Line
}

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.error }

// Trace reads the words of a line, as far as they can be read, and puts their values into the structs of the
// commands. An error is an [*Error]; the line is as far as it was read.
func (n *Node) Trace(words []string) (*Line, error) {
	l := &Line{Root: n, words: words}
	l.enter(n)
	if err := l.read(n); err != nil {
		return l, &Error{err, l}
	}
	return l, nil
}

// Check sets what was not given to its default, and holds the line against what the tags ask for. An error is an
// [*Error].
func (l *Line) Check() error {
	err := l.setDefaults()
	if err == nil {
		err = l.check()
	}
	if err != nil {
		return &Error{err, l}
	}
	return nil
}

// Selected returns the command of a line; nil where none is named or meant.
func (l *Line) Selected() *Node {
	if last := l.at[len(l.at)-1]; last != l.Root {
		return last
	}
	return nil
}

// Flags returns the flags that may stand on the line, of the program and its commands.
func (l *Line) Flags() (out []*Flag) {
	for _, n := range l.at {
		out = append(out, n.Flags...)
	}
	return out
}

// Given reports whether a flag stands on the line.
func (l *Line) Given(flag string) bool {
	return slices.ContainsFunc(l.steps, func(s step) bool {
		return s.value != nil && s.value.Flag != nil && s.value.Name == flag
	})
}

func (l *Line) enter(n *Node) {
	l.at = append(l.at, n)
	l.steps = append(l.steps, step{node: n})
}

func (l *Line) pop() string {
	word := l.words[0]
	l.words = l.words[1:]
	return word
}

// isFlag reports whether a word begins like a flag.
func isFlag(word string) bool { return len(word) > 1 && word[0] == '-' }

// read reads the words behind a node.
func (l *Line) read(n *Node) error {
	owner := n
	if n.DefaultCmd != nil && n.DefaultCmd.takesAll {
		owner = n.DefaultCmd
	}
	flags := owner.allFlags()
	arguments := n.Positional
	for len(l.words) > 0 {
		word := l.words[0]
		rest := len(arguments) > 0 && arguments[0].takesRest
		switch {
		case !l.only && word == "--":
			l.only = true
			if !rest {
				l.pop()
			}
		case !l.only && isFlag(word):
			known, err := l.readFlag(flags)
			if known || err != nil && !rest {
				if err != nil {
					return err
				}
				continue
			}
			l.only = true // it is for the program that takes the rest
		case len(arguments) > 0:
			l.only = l.only || rest
			if err := l.readArgument(arguments[0]); err != nil {
				return err
			}
			arguments = arguments[1:]
		default:
			return l.descend(n)
		}
	}
	if n.DefaultCmd != nil && !l.Help {
		l.enter(n.DefaultCmd)
	}
	return nil
}

// descend goes on with the command that the next word names, or else with the default of a node.
func (l *Line) descend(n *Node) error {
	for _, c := range n.Children {
		if c.Name != l.words[0] {
			continue
		}
		if other := n.DefaultCmd; other != nil && other.takesAll && other != c {
			for _, s := range l.steps {
				if s.value != nil && s.value.Flag != nil && slices.Contains(other.Flags, s.value.Flag) {
					return fmt.Errorf("flag --%s applies to the default command %q, not %q", s.value.Name, other.Name, c.Name)
				}
			}
		}
		l.pop()
		l.enter(c)
		return l.read(c)
	}
	if n.DefaultCmd != nil && n.DefaultCmd.takesAll {
		l.enter(n.DefaultCmd)
		return l.read(n.DefaultCmd)
	}
	return fmt.Errorf("unexpected argument %s", l.words[0])
}

// readFlag reads the flag, or the flags of one letter, in the next word. known is false, and nothing is read, if there
// is none of the first name.
func (l *Line) readFlag(flags []*Flag) (known bool, err error) {
	word := l.words[0]
	if long, ok := strings.CutPrefix(word, "--"); ok {
		name, value, whole := strings.Cut(long, "=")
		at := slices.IndexFunc(flags, func(f *Flag) bool { return f.Name == name })
		if at < 0 {
			return false, fmt.Errorf("unknown flag --%s", name)
		}
		l.pop()
		return true, l.take(flags[at], value, whole)
	}
	l.pop()
	for tail := word[1:]; tail != ""; {
		letter := rune(tail[0])
		tail = tail[1:]
		at := slices.IndexFunc(flags, func(f *Flag) bool { return f.Short == letter })
		if at < 0 {
			if !known {
				l.words = append([]string{word}, l.words...)
			}
			return known, fmt.Errorf("unknown flag -%c", letter)
		}
		known = true
		whole := tail != "" && !flags[at].IsBool()
		if err := l.take(flags[at], tail, whole); err != nil {
			return true, err
		}
		if whole {
			break
		}
	}
	return true, nil
}

// take reads the value of a flag: the one that stands in its own word, if whole is set, or the next word.
func (l *Line) take(f *Flag, value string, whole bool) error {
	l.steps = append(l.steps, step{value: f.Value})
	l.Help = l.Help || f == l.Root.Flags[0]
	err := l.takeValue(f, value, whole)
	if err != nil {
		return fmt.Errorf("--%s: %w", f.Name, err)
	}
	f.given = true
	return nil
}

func (l *Line) takeValue(f *Flag, value string, whole bool) error {
	if own, ok := f.target.Addr().Interface().(Taker); ok {
		there := whole || len(l.words) > 0 && !strings.HasPrefix(l.words[0], "-")
		if there && !whole {
			value = l.words[0]
		}
		if own.Take(value, there) && !whole {
			l.pop()
		}
		return nil
	}
	if f.IsBool() {
		if !whole {
			value = "true"
		}
		return f.set(value)
	}
	if !whole {
		switch {
		case len(l.words) == 0 && f.IsCumulative():
			return f.missing()
		case len(l.words) == 0:
			return fmt.Errorf("expected %s value but got \"EOL\" (<EOL>)", f.kind())
		case isFlag(l.words[0]):
			return f.notValue(l.words[0])
		}
		value = l.pop()
	}
	if !f.IsCumulative() {
		return f.set(value)
	}
	if !f.given {
		f.target.SetZero() // of the default
	}
	for _, one := range splitValues(value, f.separator) {
		if !whole && isFlag(one) {
			return f.notValue(one)
		}
		if err := f.set(one); err != nil {
			return err
		}
	}
	return nil
}

// missing is the error of a flag for several values with nothing behind it.
func (f *Flag) missing() error {
	one := "<arg>"
	if f.target.Kind() == reflect.Map {
		one = "<key>=<value>"
	}
	if f.separator >= 0 {
		one += string(f.separator) + "..."
	}
	return fmt.Errorf("missing value, expecting \"%s\"", one)
}

// notValue is the error of a word that begins like a flag where a value is wanted.
func (f *Flag) notValue(word string) error {
	what := "short flag"
	if strings.HasPrefix(word, "--") {
		what = "long flag"
	}
	return fmt.Errorf("expected %s value but got %q (%s); perhaps try --%s=%q?", f.kind(), word, what, f.Name, word)
}

// readArgument reads an argument: one word, or as many as there are before a flag.
func (l *Line) readArgument(v *Value) error {
	l.steps = append(l.steps, step{value: v})
	for first := true; len(l.words) > 0 && (first || v.IsCumulative()); first = false {
		if !l.only && isFlag(l.words[0]) {
			break
		}
		if err := v.set(l.pop()); err != nil {
			return fmt.Errorf("%s: %w", v.label(), err)
		}
	}
	v.given = true
	return nil
}

// check holds what was read against what the tags ask for.
func (l *Line) check() error {
	for _, n := range l.at {
		for _, v := range n.values() {
			if v.Enum != "" && (!v.Required || v.HasDefault) {
				if err := v.checkEnum(); err != nil {
					return err
				}
			}
		}
	}
	for _, s := range l.steps {
		if s.value != nil && s.value.Enum != "" {
			if err := s.value.checkEnum(); err != nil {
				return err
			}
		}
		if s.node != nil {
			if err := s.node.checkMissing(); err != nil {
				return err
			}
		}
	}
	if err := l.at[len(l.at)-1].checkBegun(); err != nil {
		return err
	}
	for _, n := range l.at {
		seen := map[string]*Flag{}
		for _, f := range n.Flags {
			switch {
			case !f.given || f.rival == "":
			case seen[f.rival] != nil:
				return fmt.Errorf("--%s and --%s can't be used together", seen[f.rival].Name, f.Name)
			default:
				seen[f.rival] = f
			}
		}
	}
	return nil
}

func (n *Node) values() (out []*Value) {
	for _, f := range n.Flags {
		out = append(out, f.Value)
	}
	return append(out, n.Positional...)
}

// checkMissing refuses a command whose required flags are not all there.
func (n *Node) checkMissing() error {
	var missing []string
	for _, f := range n.Flags {
		if f.Required && !f.given {
			missing = append(missing, f.Summary())
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("missing flags: %s", strings.Join(missing, ", "))
}

// mostMissing is how many commands an error lists.
const mostMissing = 5

// checkBegun refuses a line that ends too soon: before an argument that has to be there, or a command.
func (n *Node) checkBegun() error {
	var missing, arguments []string
	for _, v := range n.Positional {
		if v.Required && !v.given {
			arguments = append(arguments, v.Summary())
		}
	}
	if len(arguments) > 0 {
		missing = append(missing, strconv.Quote(strings.Join(arguments, " ")))
	}
	for _, c := range n.Children {
		if !c.Hidden {
			missing = append(missing, strconv.Quote(c.Name))
		}
	}
	if len(missing) > mostMissing {
		missing = append(missing[:mostMissing], "...")
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("expected %s", missing[0])
	}
	return fmt.Errorf("expected one of %s", strings.Join(missing, ", "))
}

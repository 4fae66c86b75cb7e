package threading

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/told"
)

//go:embed side_calls.toml
var builtInTable []byte

// BuiltInTable returns the table that the program comes with.
var BuiltInTable = sync.OnceValue(func() *Table {
	t, err := ReadTable(builtInTable)
	if err != nil {
		panic(err)
	}
	return t
})

// Table recognises side calls and context. It does not change and is used by many at once.
type Table struct {
	turns      []string
	sides      []string
	summaries  []string
	context    *regexp.Regexp
	beginnings []string
	inside     []string
	rows       []signature
}

// signature is a row of the table: where its pattern is found, the request is such a side call.
type signature struct {
	name         string
	summary      bool
	withoutTools bool
	first        bool // whether the first text counts
	turns        bool // whether it is one although the client says that it is a turn
	pattern      *regexp.Regexp
}

// tableFile is the form of the file.
type tableFile struct {
	Declared struct {
		Turns     []string `toml:"turns"`
		Sides     []string `toml:"sides"`
		Summaries []string `toml:"summaries"`
	} `toml:"declared"`
	Context struct {
		Tags       []string `toml:"tags"`
		Beginnings []string `toml:"beginnings"`
		Inside     []string `toml:"inside"`
	} `toml:"context"`
	SideCalls []struct {
		Name         string `toml:"name"`
		Summary      bool   `toml:"summary"`
		WithoutTools bool   `toml:"without_tools"`
		First        bool   `toml:"first"`
		Turns        bool   `toml:"turns"`
		Pattern      string `toml:"pattern"`
	} `toml:"side_call"`
}

// ReadTable returns the table in a TOML file. It fails if the text is no TOML, has a field that is
// not known, a row without a name or without a pattern, or a pattern that does not compile. The
// error names the line.
func ReadTable(text []byte) (*Table, error) {
	var file tableFile
	decoder := toml.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		if strict := (*toml.StrictMissingError)(nil); errors.As(err, &strict) && len(strict.Errors) > 0 {
			line, _ := strict.Errors[0].Position()
			return nil, fmt.Errorf("side calls: line %d: unknown field %s", line, strings.Join(strict.Errors[0].Key(), "."))
		}
		if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
			line, _ := at.Position()
			return nil, fmt.Errorf("side calls: line %d: %w", line, err)
		}
		return nil, fmt.Errorf("side calls: %w", err)
	}
	t := &Table{
		turns:      file.Declared.Turns,
		sides:      file.Declared.Sides,
		summaries:  file.Declared.Summaries,
		beginnings: file.Context.Beginnings,
		inside:     file.Context.Inside,
	}
	if len(file.Context.Tags) > 0 {
		var tags []string
		for _, tag := range file.Context.Tags {
			tags = append(tags, regexp.QuoteMeta(tag))
		}
		t.context = regexp.MustCompile(`^\s*<(` + strings.Join(tags, "|") + `)\b`)
	}
	for i, row := range file.SideCalls {
		if row.Name == "" || row.Pattern == "" {
			return nil, fmt.Errorf("side calls: line %d: row %d needs a name and a pattern", rowLine(text, i), i+1)
		}
		pattern, err := regexp.Compile(row.Pattern)
		if err != nil {
			return nil, fmt.Errorf("side calls: line %d: row %q: %w", rowLine(text, i), row.Name, err)
		}
		s := signature{name: row.Name, summary: row.Summary, withoutTools: row.WithoutTools, first: row.First,
			turns: row.Turns, pattern: pattern}
		t.rows = append(t.rows, s)
	}
	return t, nil
}

// rowStart is how a row of the file begins.
var rowStart = lazyregexp.New(`(?m)^[ \t]*\[\[[ \t]*side_call[ \t]*\]\]`)

// rowLine returns the line, from 1, at which row n begins, from 0; 0 where the file writes its rows in another way.
func rowLine(text []byte, n int) int {
	starts := rowStart().FindAllIndex(text, n+1)
	if len(starts) <= n {
		return 0
	}
	return 1 + bytes.Count(text[:starts[n][0]], []byte("\n"))
}

// isContext reports whether a text is not part of the history. What this program's hooks told the client is none.
func (t *Table) isContext(text string) bool {
	text = strings.TrimSpace(text)
	return told.IsAll(text) || t.context != nil && t.context.MatchString(text) ||
		slices.ContainsFunc(t.beginnings, func(b string) bool { return strings.HasPrefix(text, b) })
}

// Side call names that no row gives.
const (
	sideWarmUp  = "warm-up"
	sideSummary = "summary"
)

// maxBesides is how many texts of the context are searched, of the first ones and of the newest: a client puts what it
// wants of a side call into its instructions or behind its history.
const maxBesides = 8

// sideCall is what kind of side call a request is. The zero value is none.
type sideCall struct {
	name    string
	summary bool
}

// recognise returns what side call a request is by what it says of itself or by a row of the table.
func (t *Table) recognise(r *Request, h history) sideCall {
	if r.WarmUp {
		return sideCall{name: sideWarmUp}
	}
	if r.Compacts {
		return sideCall{name: sideSummary, summary: true}
	}
	turn := t.isTurn(r)
	if !turn && r.Declared != "" && slices.ContainsFunc(t.sides, declares(r.Declared)) {
		if slices.ContainsFunc(t.summaries, declares(r.Declared)) {
			return sideCall{name: sideSummary, summary: true}
		}
		_, kind, _ := strings.Cut(r.Declared, ":")
		return sideCall{name: kind}
	}
	first, texts := h.searched()
	for _, row := range t.rows {
		if row.withoutTools && len(r.Tools) > 0 || turn && !row.turns {
			continue
		}
		if slices.ContainsFunc(texts, row.pattern.MatchString) || row.first && row.pattern.MatchString(first) {
			return sideCall{name: row.name, summary: row.summary}
		}
	}
	return sideCall{}
}

// searched returns the first text of a history, and the others in which a side call is recognised: its context and,
// if a user said it, its last text.
func (h history) searched() (first string, texts []string) {
	for i, text := range h.context {
		if i < maxBesides || i >= len(h.context)-maxBesides {
			texts = append(texts, unixLines(text))
		}
	}
	if n := len(h.atoms); n > 0 {
		first = unixLines(h.atoms[0].raw)
		if h.atoms[n-1].Role == User {
			texts = append(texts, unixLines(h.atoms[n-1].raw))
		}
	}
	return first, texts
}

// unixLines returns a text with the ends of lines that the patterns are written for.
func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// isTurn reports whether the client says that a request is a turn.
func (t *Table) isTurn(r *Request) bool { return slices.ContainsFunc(t.turns, declares(r.Declared)) }

// declares returns a function that reports whether an entry of a list means what a client declares.
func declares(declared string) func(string) bool {
	return func(entry string) bool {
		before, star := strings.CutSuffix(entry, "*")
		return entry == declared || star && strings.HasPrefix(declared, before)
	}
}

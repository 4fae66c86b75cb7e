package remote

import (
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
)

// foundMost bounds what is gathered of one search.
const foundMost = 20

// Finding gathers the searches of the web that a server makes while it answers. The zero
// value is ready.
type Finding struct {
	search scrollback.Search
	fresh  bool // something was added that was not emitted
}

// BeginSearch begins a search, and emits it.
func (f *Finding) BeginSearch(a *Answer, query string) error {
	if err := f.EmitSearch(a); err != nil {
		return err
	}
	f.search = scrollback.Search{Query: query, Results: []scrollback.Source{}}
	f.fresh = true
	return f.EmitSearch(a)
}

// AddPage adds a page to the newest search.
func (f *Finding) AddPage(p scrollback.Source) {
	known := func(was scrollback.Source) bool { return was.URL == p.URL }
	if p.URL == "" || len(f.search.Results) >= foundMost || slices.ContainsFunc(f.search.Results, known) {
		return
	}
	f.search.Results = append(slices.Clone(f.search.Results), p)
	f.fresh = true
}

// MarkFailed says that the newest search failed, in words for people.
func (f *Finding) MarkFailed(words string) {
	f.search.Error = words
	f.fresh = true
}

// EmitSearch emits the newest search, if anything of it is new.
func (f *Finding) EmitSearch(a *Answer) error {
	if !f.fresh {
		return nil
	}
	f.fresh = false
	s := f.search
	return a.EmitDelta(model.Delta{Search: &s})
}

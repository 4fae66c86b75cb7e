// Command recall measures whether search finds what was said, and writes
// docs/RECALL.md.
//
//	go run ./bench/recall            everything: about a minute
//	go run ./bench/recall -quick     short conversations; the report is not written
//	go run ./bench/recall -misses    also lists the questions whose evidence was not found
//	go run ./bench/recall -standing  standing instructions alone, with what is wrong in dev; the report is not written
//
// It makes conversations with known evidence from a seed and the texts in texts/, puts
// them into a store as an import does, calls the recall tool that models call, and looks
// where the evidence is in the result. No model takes part. The same seed gives the same
// report.
//
// It is compared with the newest messages of the conversation, and with SQLite's plain
// full-text search. One set of texts was held out: nothing was tuned on it.
//
// Words it adds: talk (a made conversation), evidence (messages that answer a
// question), way (of finding it), set (talks of one seed and one set of texts).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback/store"
	"github.com/scrollback-ai/scrollback/store/sqldriver/sqlite"
	"github.com/scrollback-ai/scrollback/token"
)

// set is a row of talks: one for each language and length.
type set struct {
	name  string
	seed  uint64
	texts string // main or held
}

var sets = []set{{"tuned on", 1, "main"}, {"other seed", 2, "main"}, {"held out", 3, "held"}}

// languages of talks; mixed ones have both.
var languages = []string{"en", "zh", "mixed"}

// ways is what is compared, by name.
var ways = []string{"scrollback", "plain FTS5", "plain FTS5 with neighbours", "recent window"}

// size of a talk and its questions of each case.
type size struct{ messages, each int }

func main() {
	quick := flag.Bool("quick", false, "short conversations; the report is not written")
	misses := flag.Bool("misses", false, "list the questions whose evidence is not within 4,000 tokens")
	only := flag.String("only", "", "one set, by the beginning of its name; the report is not written")
	instructions := flag.Bool("standing", false, "measure standing instructions alone; the report is not written")
	out := flag.String("o", filepath.Join("docs", "RECALL.md"), "the report")
	flag.Parse()
	sizes := []size{{500, 1}, {1500, 2}, {4000, 2}}
	if *quick {
		sizes = sizes[:1]
	}
	err := func() error {
		labelled, err := readSentences()
		if err != nil {
			return err
		}
		if *instructions {
			fmt.Print(standingReport(labelled), "\n", wrongDev(labelled))
			return nil
		}
		r := &run{sizes: sizes, misses: *misses, fold: true}
		if err := r.all(context.Background(), *only); err != nil {
			return err
		}
		report := r.report() + standingReport(labelled)
		fmt.Print(report)
		if *quick || *only != "" {
			return nil
		}
		return os.WriteFile(*out, []byte(report), 0o644)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "recall:", err)
		os.Exit(1)
	}
}

// key says what a score is of.
type key struct {
	set, way, by, value string
}

// run collects scores.
type run struct {
	sizes  []size
	misses bool
	fold   bool // compare policies, too
	scores map[key]*score
	values []key            // with a set and a way left out, in order
	kept   map[string]*kept // by policy
}

func (r *run) all(ctx context.Context, only string) error {
	r.scores = map[key]*score{}
	for _, s := range sets {
		if len(only) > len(s.name) || s.name[:len(only)] != only {
			continue
		}
		if err := r.one(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// one asks all the questions of a set, in one store.
func (r *run) one(ctx context.Context, s set) error {
	lexes := map[string][]*lexicon{}
	for _, lang := range []string{"en", "zh"} {
		lex, err := readLexicon(s.texts + "." + lang)
		if err != nil {
			return err
		}
		lexes[lang] = []*lexicon{lex}
		lexes["mixed"] = append(lexes["mixed"], lex)
	}
	dir, err := os.MkdirTemp("", "scrollback-recall-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	db, err := sqlite.Open(ctx, filepath.Join(dir, "scrollback.db"), nil)
	if err != nil {
		return err
	}
	ids := 0
	after := func() time.Time { return firstDay.Add(span) } // dates without a year are the latest
	kept, err := store.New(db, token.Count, &store.Options{Now: after, NewID: func() string {
		ids++
		return fmt.Sprintf("%08x-0000-7000-8000-000000000000", ids)
	}})
	if err != nil {
		return err
	}
	defer func() { _ = kept.Close() }() // nothing is kept of it
	var talks []talk
	var products []product
	for _, lang := range languages {
		for _, z := range r.sizes {
			t := makeTalk(s.seed, lang, lexes[lang], z)
			p, err := newProduct(ctx, kept, t)
			if err != nil {
				return err
			}
			talks, products = append(talks, t), append(products, p)
		}
	}
	for i, t := range talks { // asked only now, each beside all the others
		if err := r.ask(ctx, s, t, products[i]); err != nil {
			return err
		}
	}
	if s.texts == "held" && r.fold {
		return r.policies(ctx, s, kept, lexes)
	}
	return nil
}

// policies puts talks of a set through each policy.
func (r *run) policies(ctx context.Context, s set, in *store.Store, lexes map[string][]*lexicon) error {
	z := size{policyMessages, 2}
	if len(r.sizes) == 1 { // a quick run
		z = r.sizes[0]
	}
	r.kept = map[string]*kept{}
	for _, policy := range policies {
		r.kept[policy] = &kept{}
		for _, lang := range languages {
			t := makeTalk(s.seed+1, lang, lexes[lang], z)
			if err := r.kept[policy].fold(ctx, in, policy, t); err != nil {
				return fmt.Errorf("%s: %w", policy, err)
			}
		}
	}
	return nil
}

// ask puts the questions of a talk to every way.
func (r *run) ask(ctx context.Context, s set, t talk, p product) error {
	db, err := newPlain(ctx, t)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // it was in memory
	finders := []way{p, plain{db, t.said, 0}, plain{db, t.said, around}, newRecent(t)}
	length := fmt.Sprintf("%d messages", len(t.said)/500*500)
	for _, q := range t.questions {
		for i, f := range finders {
			a, err := f.find(ctx, q.text)
			if err != nil {
				return fmt.Errorf("%s: %q: %w", ways[i], q.text, err)
			}
			got := judge(q, a)
			for _, k := range []key{{by: "", value: "all"}, {by: "kind", value: q.kind}, {by: "language", value: q.lang},
				{by: "wording", value: q.wording}, {by: "length", value: length}} {
				r.add(s.name, ways[i], k, got)
			}
			if r.misses && i == 0 && got.inside[3] < 1 {
				fmt.Fprintf(os.Stderr, "%s %s %s: %s\n", q.lang, q.kind, q.wording, q.text)
				for j, sentence := range q.sentences {
					fmt.Fprintf(os.Stderr, "    #%d %s (%v)\n", q.evidence[j]+1, sentence, slices.Index(a.places, q.evidence[j])+1)
				}
			}
		}
	}
	return nil
}

func (r *run) add(set, way string, k key, got score) {
	if !slices.Contains(r.values, k) {
		r.values = append(r.values, k)
	}
	k.set, k.way = set, way
	if r.scores[k] == nil {
		r.scores[k] = &score{}
	}
	r.scores[k].add(got)
}

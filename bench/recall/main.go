// Command recall measures whether search finds what was said, and writes
// docs/RECALL.md.
//
//	go -C bench run ./recall            everything: a few minutes
//	go -C bench run ./recall -quick     short conversations; the report is not written
//	go -C bench run ./recall -misses    also lists the questions whose evidence was not found
//	go -C bench run ./recall -talk N    prints the N-th conversation and its questions
//	go -C bench run ./recall -learn     learns the weights of a hit's score, and writes texts/learned.txt: some minutes
//	go -C bench run ./recall -learn-kept  learns the weights of what stays, and writes them beside the rules: a minute;
//	                                      -without F leaves out a file, to be judged by -kept F
//	go -C bench run ./recall -kept F     the sentences of a file by what becomes of them, in figures alone
//	go -C bench run ./recall -standing  standing instructions alone, with what is wrong in dev; the report is not written
//	go -C bench run ./recall -hooks     what hooks tell unasked alone, with -misses what is wrong; the report is not written
//	go -C bench run ./recall -learn-hooks  learns when hooks speak, and writes it beside the rule: some minutes
//	go -C bench run ./recall -imported  talks imported from a tool's files alone; the report is not written
//	go -C bench run ./recall -vectors   with the vectors of a stand-in alone; the report is not written
//
// It makes conversations with known evidence from a seed and the texts in texts/, puts
// them into a store as an import does, calls the recall tool that models call and what
// GET /api/search calls, and looks where the evidence is in the result. No model takes
// part. The same seed gives the same report.
//
// It is compared with the newest messages of the conversation, and with plain BM25. The
// second half of the talks is held out: it has other texts, names and seeds, and nothing is
// learned on it.
//
// Words it adds: talk (a made conversation), evidence (messages that answer a
// question), way (of finding it), set (talks of one seed and one set of texts).
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/index"
	"github.com/scrollback-ai/scrollback/internal/store/search"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
	"github.com/scrollback-ai/scrollback/token"
)

// set is a half of the talks, or of those with more kinds.
type set struct {
	name  string
	seed  uint64
	texts string // train or held
	more  bool   // of the texts with more kinds of talk and question
}

var sets = []set{{"learned on", 1, "train", false}, {"held out", 2, "held", false},
	{"more kinds, learned on", 3, "train", true}, {"more kinds, held out", 4, "held", true}}

// forms are the talks of a set; mixed ones have both languages.
var forms = []form{
	{"en", true, 300}, {"en", true, 600}, {"en", true, 1500}, {"en", true, 3000},
	{"en", false, 500}, {"en", false, 1500}, {"en", false, 6000},
	{"zh", true, 600}, {"zh", true, 2000}, {"zh", false, 300}, {"zh", false, 3000}, {"mixed", false, 1500},
}

// moreForms are the talks of a set with more kinds.
var moreForms = []form{
	{"en", true, 500}, {"en", true, 1500}, {"en", false, 500}, {"en", false, 2000},
	{"zh", false, 420}, {"zh", false, 421}, {"zh", false, 2000},
}

// ways is what is compared, by name.
var ways = []string{"context_search", "GET /api/search", "plain BM25", "plain BM25 with neighbours", "recent window"}

func main() {
	quick := flag.Bool("quick", false, "short conversations; the report is not written")
	misses := flag.Bool("misses", false, "list the questions whose evidence is not among the first ten")
	only := flag.String("only", "", "one set, by the beginning of its name; the report is not written")
	show := flag.Int("talk", 0, "print a conversation of the sets and its questions")
	teach := flag.Bool("learn", false, "learn the weights of a hit's score on the first half, for the report")
	teachKept := flag.Bool("learn-kept", false, "learn the weights of what stays, and write them beside the rules")
	without := flag.String("without", "", "with -learn-kept, a file of texts/ that is left out")
	instructions := flag.Bool("standing", false, "measure standing instructions alone; the report is not written")
	cases := flag.String("kept", "", "judge a file of cases of what stays, alone, and print figures; the report is not written")
	stay := flag.Bool("stays", false, "measure what stays through compactions, alone; the report is not written")
	hooks := flag.Bool("hooks", false, "measure what hooks tell unasked, alone; the report is not written")
	teachHooks := flag.Bool("learn-hooks", false, "learn when hooks speak, and write the weights beside the rule")
	fromFiles := flag.Bool("imported", false, "compare with talks that were imported, alone; the report is not written")
	near := flag.Bool("vectors", false, "compare with vectors, alone; the report is not written")
	out := flag.String("o", filepath.Join("..", "docs", "RECALL.md"), "the report")
	flag.Parse()
	err := func() error {
		labelled, err := readSentences()
		if err != nil {
			return err
		}
		switch {
		case *instructions:
			stays, err := keptReport()
			fmt.Print(standingReport(labelled), stays, "\n", wrongDev(labelled))
			return err
		case *cases != "":
			raw, err := os.ReadFile(*cases)
			if err != nil {
				return err
			}
			of, err := readCases(*cases, string(raw))
			fmt.Print(keptTable(of))
			if *misses {
				fmt.Print(wrongCases(of))
			}
			return err
		case *hooks:
			var wrong io.Writer
			if *misses {
				wrong = os.Stdout
			}
			return measureHooks(context.Background(), os.Stdout, wrong)
		case *teachHooks:
			return learnHooks(context.Background())
		case *stay:
			text, err := measureStays(context.Background())
			fmt.Print(text)
			return err
		case *teachKept:
			return learnKept(labelled, *without)
		case *show > 0:
			return printTalk(*show - 1)
		case *teach:
			text, err := printLearned(context.Background(), forms, func(s string) { fmt.Fprintln(os.Stderr, s) })
			fmt.Print(text)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join("recall", "texts", "learned.txt"), []byte(text), 0o644)
		}
		if *fromFiles {
			report, err := compareImported(context.Background(), sets[1], forms)
			fmt.Print(report)
			return err
		}
		if *near {
			if *quick {
				forms = slices.DeleteFunc(slices.Clone(forms), func(f form) bool { return f.messages > 600 })
			}
			report, err := compareVectors(context.Background(), slices.DeleteFunc(slices.Clone(sets), func(s set) bool {
				return !strings.HasPrefix(s.name, *only)
			}), forms)
			fmt.Print(report)
			return err
		}
		r := &run{forms: forms, bring: newProduct, misses: *misses, quick: *quick, fold: !*quick && *only == ""}
		return r.measureAll(context.Background(), labelled, *only, *out)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "recall:", err)
		os.Exit(1)
	}
}

// measureAll measures all sets, or those whose names begin like only, and writes the report where that is all of it.
func (r *run) measureAll(ctx context.Context, labelled []labelled, only, out string) error {
	if r.quick {
		r.forms = slices.DeleteFunc(slices.Clone(forms), func(f form) bool { return f.messages > 600 })
	}
	if err := r.runAll(ctx, only); err != nil {
		return err
	}
	stays, err := keptReport()
	if err != nil {
		return err
	}
	report := r.writeReport() + standingReport(labelled) + stays
	if r.quick || only != "" {
		fmt.Print(report)
		return nil
	}
	for _, part := range []func() (string, error){
		func() (string, error) { return measureStays(ctx) },
		func() (string, error) { return compareImported(ctx, sets[1], forms) },
		func() (string, error) { return compareVectors(ctx, sets, forms) },
	} {
		text, err := part()
		if err != nil {
			return err
		}
		report += text
	}
	fmt.Print(report)
	return os.WriteFile(out, []byte(report), 0o644)
}

// measureStays returns what small talk does to what stands, and what stands after it.
func measureStays(ctx context.Context) (string, error) {
	beside, err := besideReport()
	if err != nil {
		return "", err
	}
	stays, err := staysReport(ctx, func(s string) { fmt.Fprintln(os.Stderr, s) })
	return beside + stays, err
}

// printTalk writes a talk as it is read by people.
func printTalk(n int) error {
	type made struct {
		set
		form
	}
	var all []made
	for _, s := range sets {
		for _, f := range (&run{forms: forms}).formsOf(s) {
			all = append(all, made{s, f})
		}
	}
	which := all[n%len(all)]
	t, err := which.makeTalk(which.form)
	if err != nil {
		return err
	}
	for i, m := range t.said {
		fmt.Printf("#%d %s %s %s: %s\n", i+1, m.at.Format(time.DateOnly), m.role, m.name,
			strings.ReplaceAll(m.readableText(), "\n", "\n    "))
	}
	for _, q := range t.questions {
		fmt.Printf("\n%s, %s: %s\n", q.kind, q.told, q.text)
		for i, place := range q.evidence {
			fmt.Printf("    #%d %s\n", place+1, q.sentences[i])
		}
	}
	return nil
}

// makeTalk makes the talk of a form.
func (s set) makeTalk(f form) (talk, error) {
	var lexes []*lexicon
	for _, lang := range []string{"en", "zh"} {
		if f.lang != lang && f.lang != "mixed" {
			continue
		}
		names := []string{s.texts + "." + lang}
		if s.more {
			names = append(names, s.texts+".more."+lang)
		}
		lex, err := readLexicon(names...)
		if err != nil {
			return talk{}, err
		}
		lexes = append(lexes, lex)
	}
	return makeTalk(s.seed, f, lexes), nil
}

// formsOf returns the talks of a set that are made.
func (r *run) formsOf(s set) []form {
	if !s.more {
		return r.forms
	}
	return slices.DeleteFunc(slices.Clone(moreForms), func(f form) bool { return r.quick && f.messages > 600 })
}

// key says what a score is of.
type key struct {
	set, way, by, value string
}

// run collects scores.
type run struct {
	forms   []form
	bring   func(context.Context, *store.Store, talk) (product, error)
	misses  bool
	quick   bool // short talks alone
	fold    bool // compare policies, too
	scores  map[key]*score
	values  []key                 // with a set and a way left out, in order
	anatomy map[string]*anatomy   // of a set, by way
	sums    map[string]*policySum // by policy
}

func (r *run) runAll(ctx context.Context, only string) error {
	r.scores = map[key]*score{}
	r.anatomy = map[string]*anatomy{}
	for _, s := range sets {
		if !strings.HasPrefix(s.name, only) {
			continue
		}
		r.anatomy[s.name] = &anatomy{}
		if err := r.runSet(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// runSet asks all the questions of a set, in one store.
func (r *run) runSet(ctx context.Context, s set) error {
	kept, stop, err := newStore(ctx)
	if err != nil {
		return err
	}
	defer stop()
	var talks []talk
	var products []product
	for _, f := range r.formsOf(s) {
		t, err := s.makeTalk(f)
		if err != nil {
			return err
		}
		p, err := r.bring(ctx, kept.Store, t)
		if err != nil {
			return err
		}
		talks = append(talks, t)
		products = append(products, p)
	}
	if err := kept.indexAll(ctx); err != nil {
		return err
	}
	for i, t := range talks { // asked only now, each beside all the others
		if err := r.askTalk(ctx, s, t, products[i]); err != nil {
			return err
		}
	}
	if s.texts == "held" && !s.more && r.fold {
		return r.runPolicies(ctx, s, kept.Store)
	}
	return nil
}

// newStore returns an empty store in a temporary folder, and how to bring its index up to date.
func newStore(ctx context.Context) (*settled, func(), error) {
	dir, err := os.MkdirTemp("", "scrollback-recall-")
	if err != nil {
		return nil, nil, err
	}
	db, err := sqlite.Open(ctx, filepath.Join(dir, "scrollback.db"), nil)
	if err != nil {
		return nil, nil, err
	}
	ids := 0
	after := func() time.Time { return firstDay.AddDate(0, 0, 110+6000/15) } // after the longest talk
	kept, err := store.New(db, token.Count, &store.Options{Now: after, NewID: func() string {
		ids++
		return fmt.Sprintf("%08x-0000-7000-8000-000000000000", ids)
	}})
	text := func(_ context.Context, m scrollback.Message) (string, error) { return search.IndexedText(m.Parts), nil }
	return &settled{kept, index.New(db.Index, text)}, func() {
		_ = kept.Close()      // nothing is kept of it
		_ = os.RemoveAll(dir) // a temporary folder
	}, err
}

// settled is a store whose index is made when it is told to.
type settled struct {
	*store.Store
	index *index.Index
}

// indexAll indexes what was written.
func (s *settled) indexAll(ctx context.Context) error {
	for more := true; more; {
		var err error
		if more, err = s.index.CatchUp(ctx); err != nil {
			return err
		}
	}
	return nil
}

// runPolicies puts talks of a set through each policy.
func (r *run) runPolicies(ctx context.Context, s set, in *store.Store) error {
	f := form{"en", false, min(policyMessages, r.forms[len(r.forms)-1].messages)}
	r.sums = map[string]*policySum{}
	for _, policy := range policies {
		r.sums[policy] = &policySum{}
		for _, f.lang = range []string{"en", "zh", "mixed"} {
			t, err := set{s.name, s.seed + 2, s.texts, false}.makeTalk(f)
			if err != nil {
				return err
			}
			if err := r.sums[policy].foldTalk(ctx, in, policy, t); err != nil {
				return fmt.Errorf("%s: %w", policy, err)
			}
		}
	}
	return nil
}

// askTalk puts the questions of a talk to every way.
func (r *run) askTalk(ctx context.Context, s set, t talk, p product) error {
	finders := []way{p, overHTTP{p}, newPlain(t, 0), newPlain(t, 1), newRecent(t)}
	words := newVocabulary(t)
	for _, q := range t.questions {
		for i, f := range finders {
			a, err := f.find(ctx, q.text)
			if err != nil {
				return fmt.Errorf("%s: %q: %w", ways[i], q.text, err)
			}
			got := scoreAnswer(q, a)
			for _, k := range append(q.listProperties(t), key{by: "", value: "all"}) {
				r.addScore(s.name, ways[i], k, got)
			}
			if i != 0 {
				continue
			}
			if q.script != "crosswise" {
				r.anatomy[s.name].addCase(words, q, a)
			}
			if r.misses && got.at[1] < 1 {
				fmt.Fprintf(os.Stderr, "%s %s %s: %s\n", t.lang, q.kind, q.told, q.text)
				for j, sentence := range q.sentences {
					fmt.Fprintf(os.Stderr, "    #%d %s (%v)\n", q.evidence[j]+1, sentence, slices.Index(a.places, q.evidence[j])+1)
				}
			}
		}
	}
	return nil
}

// listProperties returns what scores are told apart by.
func (q question) listProperties(t talk) []key {
	lang := t.lang
	who := "a person and an assistant"
	if lang == "zh" && q.script == "crosswise" {
		lang = "zh, Traditional and Simplified crosswise"
	}
	if t.pair {
		who = "two people"
	}
	if q.asked != "" {
		return []key{{by: "kind", value: q.kind + ", " + q.asked}, {by: "way of asking", value: q.asked}}
	}
	return []key{{by: "kind", value: q.kind}, {by: "form of the evidence", value: q.told}, {by: "language", value: lang},
		{by: "speakers", value: who}, {by: "length", value: fmt.Sprintf("%d messages", t.messages)}}
}

func (r *run) addScore(set, way string, k key, got score) {
	if !slices.Contains(r.values, k) {
		r.values = append(r.values, k)
	}
	k.set = set
	k.way = way
	if r.scores[k] == nil {
		r.scores[k] = &score{}
	}
	r.scores[k].addScore(got)
}

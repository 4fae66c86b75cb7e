package evidence_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/evidence"
	"github.com/scrollback-ai/scrollback/internal/store/sql/sqlite"
)

// rig is a store in memory.
type rig struct {
	*testing.T
	d     *driver.Driver
	store *store.Store
	at    int64
}

func newRig(t *testing.T) *rig {
	t.Helper()
	d, err := sqlite.OpenMemory(t.Context(), &sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.New(d, func(s string) int { return len(s) / 4 }, &store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &rig{t, d, s, 1_790_000_000_000}
}

// talk stores a session of a tool that was held in a folder. A line begins with "> " (a person), "< " (a model) or "=
// " (a tool's result).
func (r *rig) talk(c scrollback.Conversation, id, folder string, lines ...string) scrollback.ConversationID {
	r.Helper()
	roles := map[string]scrollback.Role{"> ": scrollback.RoleUser, "< ": scrollback.RoleAssistant}
	var begins []store.IncomingMessage
	for i, line := range lines {
		r.at += 60_000
		m := scrollback.Message{Role: roles[line[:2]], Parts: scrollback.Say(line[2:]), CreatedAt: r.at,
			Status: scrollback.StatusComplete}
		if line[:2] == "= " {
			call := fmt.Sprint("call", i)
			begins = append(begins, store.IncomingMessage{Message: scrollback.Message{Role: scrollback.RoleAssistant,
				Status: scrollback.StatusComplete, CreatedAt: r.at,
				Parts: scrollback.Parts{scrollback.ToolCall{ID: call, Name: "read", Arguments: json.RawMessage(`{}`)}}}})
			m.Role = scrollback.RoleTool
			m.Parts = scrollback.Parts{scrollback.ToolResult{CallID: call, Name: "read", Text: line[2:]}}
		}
		begins = append(begins, store.IncomingMessage{Message: m})
	}
	c.Project = "default"
	c.CreatedAt = r.at
	made, _, err := r.store.CreateConversation(r.Context(), c, begins...)
	if err == nil {
		o := scrollback.Origin{Conversation: made.ID, Tool: "codex", ID: id, Folder: folder}
		err = r.d.Log.PutOrigin(r.Context(), o, "")
	}
	if err != nil {
		r.Fatal(err)
	}
	return made.ID
}

func (r *rig) find(q evidence.Query) evidence.Answer {
	r.Helper()
	if q.Place.Folders == nil {
		q.Place = evidence.Place{Folders: []string{"/shop"},
			Has: func(f string) bool { return f == "/shop" || f == "/shop/src" }}
	}
	a, err := evidence.New(r.d).Find(context.Background(), q)
	if err != nil {
		r.Fatal(err)
	}
	return a
}

const lease = "When does the harbour crane lease end?"

func TestFind(t *testing.T) {
	r := newRig(t)
	id := r.talk(scrollback.Conversation{}, "s1", "/shop/src", "> "+lease,
		"< It ends 2027-03-01; the renewal was declined.", "> Thanks.")
	r.talk(scrollback.Conversation{}, "s2", "/shop/vendor/other", "> "+lease, "< In another repository it ends in May.")
	a := r.find(evidence.Query{Prompt: "what did we find out about the harbour crane lease?"})
	if len(a.Found) == 0 || a.Found[0].Conversation != id || a.Found[0].Seq != 2 || a.Found[0].Tool != "codex" {
		t.Fatalf("found %+v", a)
	}
	for name, q := range map[string]evidence.Query{
		"the session itself": {Prompt: lease, Session: evidence.Session{Tool: "codex", ID: "s1"}},
		"told already":       {Prompt: lease, Told: map[evidence.Seen]bool{{Conversation: id, Seq: 2}: true}},
		"another thing":      {Prompt: "When does the warehouse insurance of the ferry expire?"},
		"one word of it":     {Prompt: "Which colour has the crane?"},
		"no word":            {Prompt: "what did we do before that?"},
		"an order":           {Prompt: "please add a new test for the function and commit it"},
		"a silenced project": {Prompt: lease, Place: evidence.Place{Folders: []string{"/shop"},
			Without: []string{"default"}}},
		"an excluded tool": {Prompt: lease, Place: evidence.Place{Folders: []string{"/shop"},
			Exclude: func(tool, _ string) bool { return tool == "codex" }}},
		"another place": {Prompt: lease, Place: evidence.Place{Folders: []string{"/farm"}}},
	} {
		if a := r.find(q); len(a.Found) > 0 {
			t.Errorf("%s: found %+v", name, a)
		}
	}
}

// What a tool returned, what a program held and what this program told are never found; of a long talk only an
// identifier is.
func TestFindNever(t *testing.T) {
	r := newRig(t)
	r.talk(scrollback.Conversation{}, "s1", "/shop", "> Read the notes.",
		"= "+lease+" It ends 2027-03-01; the renewal was declined.",
		"< I have read them.")
	r.talk(scrollback.Conversation{Meta: json.RawMessage(`{"claude_code":{"entrypoint":"sdk-py"}}`)}, "s2", "/shop", "> "+lease,
		"< It ends 2027-03-01; the renewal was declined.")
	if a := r.find(evidence.Query{Prompt: lease}); len(a.Found) > 0 {
		t.Errorf("found %+v", a)
	}
	long := []string{"> " + lease, "< It ends 2027-03-01; the renewal of CR-7741 was declined."}
	for i := range 320 {
		long = append(long, fmt.Sprintf("> and number %d?", i))
	}
	r.talk(scrollback.Conversation{}, "s3", "/shop", long...)
	if a := r.find(evidence.Query{Prompt: lease}); len(a.Found) > 0 {
		t.Errorf("found in a long talk: %+v", a)
	}
	if a := r.find(evidence.Query{Prompt: "was the renewal of CR-7741 declined?"}); len(a.Found) == 0 {
		t.Errorf("not found by its identifier: %+v", a)
	}
}

// A conversation of another machine speaks where its repository is, whatever its folder was called there; not in
// another repository, and not if its folder or its tool is excluded.
func TestFindByRepository(t *testing.T) {
	r := newRig(t)
	const repository = "/.scrollback-repository/example.org/owner/shop/00"
	id := r.talk(scrollback.Conversation{}, "s1", "/Users/somebody/shop", "> "+lease,
		"< It ends 2027-03-01; the renewal was declined.", "> Thanks.")
	err := r.d.Log.PutOrigin(t.Context(), scrollback.Origin{Conversation: id, Tool: scrollback.OriginRepository,
		ID: repository, Folder: repository}, "")
	if err != nil {
		t.Fatal(err)
	}
	speaks := func(want bool, folders []string, exclude func(tool, folder string) bool) {
		t.Helper()
		p := evidence.Place{Folders: folders, Exclude: exclude,
			Has: func(f string) bool { return f == "/renamed" || f == folders[len(folders)-1] }}
		if a := r.find(evidence.Query{Prompt: lease, Place: p}); (len(a.Found) > 0) != want {
			t.Errorf("in %v: %+v, want something: %v", folders, a, want)
		}
	}
	speaks(true, []string{"/renamed", repository}, nil)
	speaks(false, []string{"/renamed", repository + "11"}, nil)
	speaks(false, []string{"/renamed"}, nil)
	speaks(false, []string{"/renamed", repository}, func(tool, _ string) bool { return tool == "codex" })
	speaks(false, []string{"/renamed", repository},
		func(_, folder string) bool { return folder == "/Users/somebody/shop" })
}

// Where work stood is told of the last month, the newest first, and what somebody came back to is no longer kept.
func TestStand(t *testing.T) {
	r := newRig(t)
	here := evidence.Place{Folders: []string{"/shop"}}
	r.talk(scrollback.Conversation{}, "s1", "/shop", "> Which crane do we hire?",
		"< The harbour crane of Okafor, for its reach of 40 metres.")
	r.talk(scrollback.Conversation{}, "s2", "/shop", "> I never eat gluten.", "< Noted, I keep that in mind for the canteen.",
		"> Please book the crane for the first week of May.")
	stand := func(of evidence.Session, since int64) string {
		all, err := evidence.New(r.d).Stand(t.Context(), here, of, since)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, f := range all {
			out = append(out, f.Kind+":"+f.Text)
		}
		return strings.Join(out, "\n")
	}
	got := stand(evidence.Session{}, r.at-1)
	for _, want := range []string{":Please book the crane for the first week of May.", "kept:I never eat gluten.",
		":The harbour crane of Okafor, for its reach of 40 metres."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if got := stand(evidence.Session{}, r.at+1); got != "" {
		t.Errorf("older than a month, and told:\n%s", got)
	}
	if got := stand(evidence.Session{Tool: "codex", ID: "s2"}, 0); strings.Contains(got, "May") {
		t.Errorf("its own words are told:\n%s", got)
	}
	r.talk(scrollback.Conversation{}, "s3", "/shop", "> I never eat gluten.", "< Noted.",
		"> Forget that: gluten is fine for me again.")
	if got := stand(evidence.Session{}, 0); strings.Count(got, "kept:I never eat gluten.") > 1 {
		t.Errorf("taken back, and kept:\n%s", got)
	}
	back, err := evidence.New(r.d).HandBack(t.Context(), evidence.Session{Tool: "codex", ID: "s2"}, "")
	if err != nil || len(back) != 2 || back[0].Kind != evidence.KindTodo || back[1].Text != "I never eat gluten." {
		t.Errorf("handed back: %+v, %v", back, err)
	}
	back, err = evidence.New(r.d).HandBack(t.Context(), evidence.Session{Tool: "codex", ID: "s2"},
		"Summary: I never eat\n gluten.")
	if err != nil || len(back) != 1 || back[0].Kind != evidence.KindTodo {
		t.Errorf("handed back what its summary says: %+v, %v", back, err)
	}
}

// One word, a long talk and too little of a prompt are no reason to speak; a rare identifier makes up for each of the
// first two.
func TestJudge(t *testing.T) {
	w := evidence.Weights{"speak covered": 4, "speak constant": -2, "speak bar": 0.5}
	for name, c := range map[string]struct {
		together         int
		covered          float64
		long, identifier bool
		want             bool
	}{
		"most of it":              {together: 2, covered: 0.7, want: true},
		"one word":                {together: 1, covered: 0.7},
		"one name":                {together: 1, covered: 0.7, identifier: true, want: true},
		"half of it":              {together: 2, covered: 0.6},
		"a name in much else":     {together: 1, covered: 0.1, identifier: true},
		"a long talk":             {together: 2, covered: 0.7, long: true},
		"a long talk with a name": {together: 2, covered: 0.7, long: true, identifier: true, want: true},
	} {
		f := evidence.Facts{Together: c.together, Long: c.long, Identifier: c.identifier,
			Features: []evidence.Feature{{Name: "covered", Value: c.covered}}}
		if got, why := evidence.Judge(f, w); got != c.want || why == "" {
			t.Errorf("%s: %v, %q", name, got, why)
		}
	}
}

// Of a stretch the answer is told, and what a person decided behind a proposal, not the question or a word of thanks.
func TestChoose(t *testing.T) {
	r := newRig(t)
	r.talk(scrollback.Conversation{}, "s1", "/shop", "> Which crane do we hire for the harbour?",
		"< Options: the crane of Okafor reaches 40 metres, that of Lindqvist costs half as much.",
		"> Okafor then, never Lindqvist again after the accident.", "< Done.", "> Thanks.")
	a := r.find(evidence.Query{Prompt: "ask Lindqvist for a crane for the harbour, or did we rule them out?"})
	var seqs []int64
	for _, f := range a.Found {
		seqs = append(seqs, f.Seq)
	}
	slices.Sort(seqs)
	if !slices.Equal(seqs, []int64{2, 3}) {
		t.Errorf("told %v: %+v", seqs, a)
	}
}

// A rare proper name in the middle of a sentence is an identifier, in either language. A word with which a sentence
// begins, a day, a tool that everybody uses, each noun of a German, and one of two names are none.
func TestFindProperName(t *testing.T) {
	r := newRig(t)
	r.talk(scrollback.Conversation{}, "s1", "/shop", "> The Hasselbach quote for a new oven came: 41,200 plus fitting.",
		"< Ask for 36 months of warranty before you sign.", "> They agreed to 36 months.")
	r.talk(scrollback.Conversation{}, "s2", "/shop", "> 老郑报的烤箱价格是四万一，保修怎么定？", "< 先要求三十六个月的保修再签字。")
	r.talk(scrollback.Conversation{}, "s3", "/shop", "> Should the Wednesday market get its own oven, with Postgres behind it?",
		"< One van is enough: 40 loaves fit in it.")
	for prompt, want := range map[string]bool{
		"draft a short mail to Hasselbach about it":                               true,
		"给老郑写封短信":                                                                 true,
		"给 Hasselbach 写封短信":                                                       true,
		"Hasselbach is a nice word, draft a short mail":                           false,
		"draft a short mail to Hasselbach and Kowalczyk about it":                 false,
		"draft a short mail for Wednesday":                                        false,
		"draft a short mail about Postgres":                                       false,
		"schreib dem Herrn eine Mail, wann die Firma Hasselbach mit dem Ofen ist": false,
	} {
		if a := r.find(evidence.Query{Prompt: prompt}); a.Facts.Proper != want {
			t.Errorf("%s: %+v", prompt, a)
		}
	}
}

// What was corrected later, in the same talk or in another one of the place, is told with what corrects it, in the
// order in which they were said; a question about it and what is said of another thing correct nothing.
func TestFindCorrected(t *testing.T) {
	for name, c := range map[string]struct {
		same, later []string
		want        string
	}{
		"nothing later":    {want: ""},
		"in the same talk": {same: []string{"> No, the gateway port is 8081 now.", "< Understood, 8081."}, want: "8081"},
		"in another talk": {later: []string{"> We moved the harbour gateway to port 9000.", "< Changed in gateway.toml."},
			want: "9000"},
		"in Chinese":       {later: []string{"> harbour gateway 的 port 改成 9100 了。", "< 好的。"}, want: "9100"},
		"a question":       {later: []string{"> Is the harbour gateway port no longer open?", "< It is open."}, want: ""},
		"of another thing": {later: []string{"> The lighthouse is now painted white.", "< Noted in the log."}, want: ""},
	} {
		r := newRig(t)
		r.talk(scrollback.Conversation{}, "s1", "/shop", append([]string{"> Which port does the harbour gateway listen on?",
			"< The harbour gateway listens on port 8080, behind the proxy."}, c.same...)...)
		if len(c.later) > 0 {
			r.talk(scrollback.Conversation{}, "s2", "/shop", c.later...)
		}
		a := r.find(evidence.Query{Prompt: "on which port does the harbour gateway listen, do you remember?"})
		var said []string
		for _, f := range a.Found {
			said = append(said, f.Text)
		}
		all := strings.Join(said, "\n")
		good := strings.Contains(all, "8080") && !strings.Contains(all, "now") && !strings.Contains(all, "no longer")
		if c.want != "" {
			good = strings.LastIndex(all, c.want) > strings.LastIndex(all, "8080")
		}
		if !good {
			t.Errorf("%s: told %q", name, said)
		}
	}
}

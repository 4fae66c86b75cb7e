package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/offline"
)

// embedder makes vectors as the offline model does, and keeps what it was sent.
type embedder struct {
	model.Model
	mu     sync.Mutex
	sent   []string
	fail   func(texts []string) error
	extra  int // numbers more in each vector
	silent bool
}

func newEmbedder() *embedder { return &embedder{Model: offline.New(nil)} }

// EmbedTexts implements [model.Embedder].
func (m *embedder) EmbedTexts(ctx context.Context, texts []string) (model.Embeddings, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent = append(m.sent, texts...)
	if m.fail != nil {
		if err := m.fail(texts); err != nil {
			return model.Embeddings{}, err
		}
	}
	out, err := offline.New(nil).EmbedTexts(ctx, texts)
	for i := range out.Vectors {
		out.Vectors[i] = append(out.Vectors[i], make([]float32, m.extra)...)
	}
	out.InputTokens = 1000
	if m.silent {
		out.InputTokens = 0
	}
	return out, err
}

// listSent returns what was sent since the last time.
func (m *embedder) listSent() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.sent
	m.sent = nil
	return out
}

func (m *embedder) setFail(fail func(texts []string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = fail
}

// embeddingRig is an engine with a model of embeddings.
type embeddingRig struct {
	*enginetest.Rig
	t *testing.T
	m *embedder
}

func newEmbeddingRig(t *testing.T, o enginetest.Options) embeddingRig {
	t.Helper()
	m := newEmbedder()
	o.Models = func(string) (model.Model, error) { return m, nil }
	if o.Embeddings == "" {
		o.Embeddings = "vectors/m"
	}
	return embeddingRig{enginetest.New(t, o), t, m}
}

// say creates a conversation in a project with messages by a person and a model in turn.
func (r embeddingRig) say(project string, texts ...string) scrollback.ConversationID {
	r.t.Helper()
	c, _, err := r.Create(r.t.Context(), scrollback.Conversation{Project: project})
	if err != nil {
		r.t.Fatal(err)
	}
	r.sayIn(c.ID, texts...)
	return c.ID
}

func (r embeddingRig) sayIn(id scrollback.ConversationID, texts ...string) {
	r.t.Helper()
	var in []store.IncomingMessage
	for i, text := range texts {
		role := []scrollback.Role{scrollback.RoleUser, scrollback.RoleAssistant}[i%2]
		in = append(in, store.IncomingMessage{Message: scrollback.Message{Role: role, Parts: scrollback.Say(text)}})
	}
	h, err := r.Store.ReadHead(r.t.Context(), id)
	if err == nil {
		_, err = r.Store.AppendMessages(r.t.Context(), h, in)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r embeddingRig) fill() {
	r.t.Helper()
	if done, err := r.Engine.FillVectors(r.t.Context()); err != nil || !done {
		r.t.Fatalf("vectors of all: %t, %v", done, err)
	}
}

// find returns the contents that a search finds, best first.
func (r embeddingRig) find(v *engine.View, q scrollback.SearchQuery) []string {
	r.t.Helper()
	got, err := v.Recall().Search(r.t.Context(), q)
	if err != nil {
		r.t.Fatal(err)
	}
	var out []string
	for _, h := range got.Hits {
		out = append(out, h.Content)
	}
	return out
}

// usage returns the calls for vectors that are in the books.
func (r embeddingRig) usage() (out []scrollback.UsageSum) {
	r.t.Helper()
	if err := r.Engine.Settle(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	all, err := r.Usage(r.t.Context(),
		scrollback.UsageQuery{ByPurpose: true, ByModel: true, ByProject: true, ByKey: true})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, u := range all {
		if u.Purpose == "embedding" {
			out = append(out, u)
		}
	}
	return out
}

// What is said beside what is looked for.
var smallTalk = []string{"The weather was lovely on the coast.", "I watered all the plants again.",
	"Our train left half an hour late.", "She painted the fence green.", "We sang old songs until midnight."}

const (
	physician = "The physician wants to look at my knee on Tuesday."
	ofDoctor  = "When does the doctor see me?"
)

// A question in other words finds its message once there are vectors, first of all; by words alone it does not.
// Calls are in the books: those for messages in the sums of their projects, and a question in those of who asks. The
// same question is sent once.
func TestOtherWordingIsFound(t *testing.T) {
	r := newEmbeddingRig(t, enginetest.Options{})
	id := r.say("health", append([]string{physician}, smallTalk...)...)
	r.say("home", smallTalk...)
	if got := r.find(r.View, scrollback.SearchQuery{Query: ofDoctor}); slices.Contains(got, physician) {
		t.Fatalf("by words alone it finds %q", got)
	}
	if sent := r.m.listSent(); len(sent) > 0 {
		t.Fatalf("without vectors a question is sent: %q", sent)
	}
	r.fill()
	if sent := r.m.listSent(); len(sent) != 1+2*len(smallTalk) || sent[0] != physician {
		t.Fatalf("sent were %q", sent)
	}
	for range 2 {
		for _, q := range []scrollback.SearchQuery{{Query: ofDoctor}, {Query: ofDoctor, Conversation: id},
			{Query: ofDoctor, Project: "health"}, {Query: "doctor"}} {
			if got := r.find(r.View, q); len(got) == 0 || got[0] != physician {
				t.Errorf("%+v finds %q", q, got)
			}
		}
	}
	if sent := r.m.listSent(); len(sent) != 2 || sent[0] != ofDoctor {
		t.Errorf("questions that were sent: %q", sent)
	}
	tokens := map[string]int64{}
	calls := int64(0)
	for _, u := range r.usage() {
		tokens[u.Project] += u.InputTokens
		calls += u.Calls
		if u.Model != "vectors/m" || u.TotalTokens != u.InputTokens || u.EstimatedShare != 0 {
			t.Errorf("in the books: %+v", u)
		}
	}
	if calls != 4 || tokens["health"]+tokens["home"] > 1000 || tokens["health"] < 500 || tokens["home"] < 300 ||
		tokens[scrollback.DefaultProject] != 2000 {
		t.Errorf("%d calls, tokens by project %v", calls, tokens)
	}
}

// Only what people and models say is sent, a bounded piece of it, and nothing that tools, instructions or thoughts
// hold.
func TestOnlyWordsAreSent(t *testing.T) {
	r := newEmbeddingRig(t, enginetest.Options{})
	id := r.NewConversation()
	long := strings.Repeat("长话短说", 2000)
	in := []store.IncomingMessage{
		{Message: scrollback.Message{Role: scrollback.RoleSystem, Parts: scrollback.Say("a secret rule")}},
		{Message: scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Say("a question")}},
		{Message: scrollback.Message{Role: scrollback.RoleAssistant, Parts: scrollback.Parts{
			scrollback.Reasoning{Text: "a secret thought"}, scrollback.Text{Text: "an answer"},
			scrollback.ToolCall{ID: "1", Name: "look", Arguments: []byte(`{"secret":1}`)}}}},
		{Message: scrollback.Message{Role: scrollback.RoleTool, Parts: scrollback.Parts{
			scrollback.ToolResult{CallID: "1", Name: "look", Text: "a secret result"}}}},
		{Message: scrollback.Message{Role: scrollback.RoleUser, Parts: scrollback.Say(long)}},
	}
	h, err := r.Store.ReadHead(t.Context(), id)
	if err == nil {
		_, err = r.Store.AppendMessages(t.Context(), h, in)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.fill()
	sent := r.m.listSent()
	if len(sent) != 3 || sent[0] != "a question" || sent[1] != "an answer" || sent[2] != long[:3*4000] {
		t.Errorf("sent were %d texts: %.300q", len(sent), sent)
	}
}

// What vectors find is bounded as what words find: by the caller's projects, the conversation with what it inherits,
// the trash and what live forks inherit of it, role and time, and what is left out. A query that demands its words
// gets nothing else.
func TestVectorsStayInScope(t *testing.T) {
	ctx := t.Context()
	r := newEmbeddingRig(t, enginetest.Options{})
	other := "Dr Reed is the physician who treats my back."
	mine := r.say("mine", append([]string{physician}, smallTalk...)...)
	theirs := r.say("theirs", append([]string{other}, smallTalk...)...)
	r.fill()
	key := r.Engine.As(scrollback.Caller{Key: "k", Access: scrollback.AccessRead, Projects: []string{"mine"}})
	is := func(what string, v *engine.View, q scrollback.SearchQuery, want ...string) {
		t.Helper()
		q.Query = ofDoctor
		var got []string
		for _, content := range r.find(v, q) {
			if content == physician || content == other {
				got = append(got, content)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: found %q, want %q", what, got, want)
		}
	}
	is("everywhere", r.View, scrollback.SearchQuery{}, physician, other)
	is("a key of one project", key, scrollback.SearchQuery{}, physician)
	is("a project", r.View, scrollback.SearchQuery{Project: "theirs"}, other)
	is("a conversation", r.View, scrollback.SearchQuery{Conversation: mine}, physician)
	is("by a person", r.View, scrollback.SearchQuery{Role: scrollback.RoleUser}, physician, other)
	is("by a model", r.View, scrollback.SearchQuery{Role: scrollback.RoleAssistant})
	is("before", r.View, scrollback.SearchQuery{To: r.Clock.Load() - 1})
	is("after", r.View, scrollback.SearchQuery{From: r.Clock.Load() - 1000}, physician, other)
	is("but for one", r.View, scrollback.SearchQuery{Except: []scrollback.MessageID{r.Log(mine)[0].ID}}, other)
	if got := r.find(r.View, scrollback.SearchQuery{Query: `"doctor"`}); len(got) > 0 {
		t.Errorf("a phrase that stands nowhere finds %q", got)
	}
	for _, u := range r.usage() {
		if (u.Key == "k") != (u.Project == "mine" && u.Calls == 1 && u.InputTokens == 1000) && u.Key != "" {
			t.Errorf("the key's question is in the books as %+v", u)
		}
	}

	seq := int64(1)
	fork, err := r.Branches().Fork(ctx, mine, engine.Point{Seq: &seq}, "fork")
	if err != nil {
		t.Fatal(err)
	}
	is("inherited", r.View, scrollback.SearchQuery{Conversation: fork.ID}, physician)
	seq = 0
	if _, err := r.Branches().Rewind(ctx, theirs, engine.Point{Seq: &seq}); err != nil {
		t.Fatal(err)
	}
	r.sayIn(theirs, "Another way.")
	got, err := r.Recall().Search(ctx, scrollback.SearchQuery{Query: ofDoctor, Conversation: theirs})
	if err != nil || len(got.Hits) == 0 || got.Hits[0].Content != other || got.Hits[0].OnPath {
		t.Errorf("on a branch that was left: %+v, %v", got, err)
	}
	if _, err := r.Trash(ctx, theirs); err != nil {
		t.Fatal(err)
	}
	is("without the trash", r.View, scrollback.SearchQuery{}, physician)
	if _, err := r.Trash(ctx, mine); err != nil {
		t.Fatal(err)
	}
	is("inherited of the trash", r.View, scrollback.SearchQuery{}, physician)
	hit, err := r.Recall().Search(ctx, scrollback.SearchQuery{Query: ofDoctor})
	if err != nil || len(hit.Hits) == 0 || hit.Hits[0].ConversationID != fork.ID {
		t.Errorf("inherited of the trash: %+v, %v", hit.Hits, err)
	}
	if _, err := r.Trash(ctx, fork.ID); err != nil {
		t.Fatal(err)
	}
	is("all in the trash", r.View, scrollback.SearchQuery{})
}

// While the server of vectors fails, words find, and it is not asked with each question; what is said gets its
// vectors when it is back. No vector is made of a text that it does not take, and the rest goes on.
func TestEmbeddingsFail(t *testing.T) {
	r := newEmbeddingRig(t, enginetest.Options{})
	r.say("", append([]string{physician}, smallTalk...)...)
	r.fill()
	r.m.listSent()
	down := scrollback.Errorf(scrollback.Unavailable, "test", "nobody is there").WithReason(scrollback.ErrUpstream)
	r.m.setFail(func([]string) error { return down })
	for _, query := range []string{"Who painted the fence?", "Who sang the songs?"} {
		got := r.find(r.View, scrollback.SearchQuery{Query: query})
		if len(got) == 0 || !strings.Contains(got[0], strings.Fields(query)[1]) {
			t.Errorf("%s finds %q", query, got)
		}
	}
	if sent := r.m.listSent(); len(sent) != 1 {
		t.Errorf("while it is down it is asked %q", sent)
	}
	r.say("", "one", "poison", "three", strings.Repeat("much ", 300), "five")
	if done, err := r.Engine.FillVectors(t.Context()); done || !errors.Is(err, scrollback.ErrUpstream) {
		t.Errorf("while it is down: %t, %v", done, err)
	}
	before, err := r.Store.Vectors.ReadState(t.Context())
	if err != nil || before.Vectors != 6 || before.Watermark == before.Newest {
		t.Errorf("while it is down: %+v, %v", before, err)
	}
	r.m.setFail(func(texts []string) error {
		if slices.ContainsFunc(texts, func(s string) bool { return s == "poison" || len(s) > 1000 }) {
			return scrollback.Errorf(scrollback.Refused, "test", "I do not take that").WithReason(scrollback.ErrPermanent)
		}
		return nil
	})
	r.fill()
	after, err := r.Store.Vectors.ReadState(t.Context())
	if err != nil || after.Vectors != 10 || after.Watermark != after.Newest {
		t.Errorf("when it is back: %+v, %v", after, err)
	}
	r.m.setFail(func([]string) error {
		return scrollback.Errorf(scrollback.Refused, "test", "the key is wrong").WithReason(scrollback.ErrPermanent)
	})
	r.say("", "six")
	if done, err := r.Engine.FillVectors(t.Context()); done || scrollback.CodeOf(err) != scrollback.Refused {
		t.Errorf("with a wrong key: %t, %v", done, err)
	}
	r.m.setFail(nil)
	r.fill()
	if s, err := r.Store.Vectors.ReadState(t.Context()); err != nil || s.Vectors != 11 {
		t.Errorf("with the right key: %+v, %v", s, err)
	}
}

// Another model, and another length of the vectors of the same, begins again; until that is done, words find.
func TestEmbeddingsChange(t *testing.T) {
	d := oracle.New()
	r := newEmbeddingRig(t, enginetest.Options{Driver: d})
	r.say("", append([]string{physician}, smallTalk...)...)
	r.fill()
	next := newEmbeddingRig(t, enginetest.Options{Driver: d, Embeddings: "vectors/other"})
	if got := next.find(next.View, scrollback.SearchQuery{Query: ofDoctor}); slices.Contains(got, physician) {
		t.Errorf("by the vectors of another model it finds %q", got)
	}
	if sent := next.m.listSent(); len(sent) > 0 {
		t.Errorf("sent are %q", sent)
	}
	next.fill()
	for _, extra := range []int{0, 3} {
		next.m.extra = extra
		next.sayIn(next.say("", "and more"), fmt.Sprint("said with ", extra))
		next.fill()
		got := next.find(next.View, scrollback.SearchQuery{Query: fmt.Sprint(ofDoctor, " ", extra)})
		if !slices.Contains(got, physician) {
			t.Errorf("with %d more numbers it finds %q", extra, got)
		}
		s, err := next.Store.Vectors.ReadState(t.Context())
		if err != nil || s.Vectors != s.Newest || s.Model != "vectors/other" || s.Dimension != 512+extra {
			t.Errorf("the state is %+v, %v", s, err)
		}
	}
}

// What is purged has no vector, and is not found by one that is still in memory.
func TestVectorsOfPurged(t *testing.T) {
	r := newEmbeddingRig(t, enginetest.Options{})
	id := r.say("", append([]string{physician}, smallTalk...)...)
	r.say("", smallTalk...)
	r.fill()
	r.find(r.View, scrollback.SearchQuery{Query: ofDoctor})
	if _, err := r.Trash(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Purge(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got := r.find(r.View, scrollback.SearchQuery{Query: ofDoctor}); slices.Contains(got, physician) {
		t.Errorf("after the purge it finds %q", got)
	}
	s, err := r.Store.Vectors.ReadState(t.Context())
	if err != nil || s.Vectors != int64(len(smallTalk)) {
		t.Errorf("after the purge the state is %+v, %v", s, err)
	}
}

// A project that has used up its day sends nothing: neither what is said in it nor questions.
func TestVectorsInBudget(t *testing.T) {
	r := newEmbeddingRig(t, enginetest.Options{Budgets: map[string]scrollback.SpendLimit{"poor": {Tokens: 1500}}})
	id := r.say("poor", append([]string{physician}, smallTalk...)...)
	r.fill()
	ask := func(query string) []string {
		return r.find(r.View, scrollback.SearchQuery{Query: query, Conversation: id})
	}
	if got := ask(ofDoctor); len(got) == 0 || got[0] != physician {
		t.Fatalf("within its budget it finds %q", got)
	}
	r.usage()
	r.m.listSent()
	if got := ask("Which doctor?"); slices.Contains(got, physician) {
		t.Errorf("beyond its budget it finds %q", got)
	}
	r.sayIn(id, "and more")
	if done, err := r.Engine.FillVectors(t.Context()); done || scrollback.CodeOf(err) != scrollback.OverBudget {
		t.Errorf("beyond its budget: %t, %v", done, err)
	}
	if sent := r.m.listSent(); len(sent) > 0 {
		t.Errorf("beyond its budget it sends %q", sent)
	}
	r.Clock.Add(scrollback.DayMS)
	r.fill()
}

// Filling that is broken off goes on where it was: nothing that has its vector is sent again. Tokens that a server does
// not count are counted here.
func TestVectorsGoOn(t *testing.T) {
	d := oracle.New()
	r := newEmbeddingRig(t, enginetest.Options{Driver: d})
	var texts []string
	for i := range 300 {
		texts = append(texts, fmt.Sprint("message number ", i))
	}
	r.say("", texts...)
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	r.m.silent = true
	r.m.setFail(func([]string) error {
		if calls++; calls == 3 {
			cancel()
			return ctx.Err()
		}
		return nil
	})
	if done, err := r.Engine.FillVectors(ctx); done || err == nil {
		t.Fatalf("broken off: %t, %v", done, err)
	}
	s, err := r.Store.Vectors.ReadState(t.Context())
	if err != nil || s.Vectors != 128 {
		t.Fatalf("after two batches: %+v, %v", s, err)
	}
	for _, u := range r.usage() {
		if u.EstimatedShare != 1 || u.InputTokens < 128 {
			t.Errorf("in the books: %+v", u)
		}
	}
	next := newEmbeddingRig(t, enginetest.Options{Driver: d})
	next.fill()
	if sent := next.m.listSent(); !slices.Equal(sent, texts[128:]) {
		t.Errorf("then %d texts are sent, from %q", len(sent), sent[0])
	}
	var state driver.VectorState
	if state, err = d.Index.ReadVectorState(t.Context()); err != nil || state.Vectors != 300 {
		t.Errorf("at the end: %+v, %v", state, err)
	}
}

// Without a model of embeddings nothing is asked and nothing is written; one that has none is named.
func TestNoEmbeddings(t *testing.T) {
	r := enginetest.New(t, enginetest.Options{})
	r.Engine.KeepVectors(t.Context()) // returns
	if err := r.Engine.CheckEmbedder(t.Context(), true); err != nil {
		t.Error(err)
	}
	if s, err := r.Store.Vectors.ReadState(t.Context()); err != nil || s.Model != "" {
		t.Errorf("the state is %+v, %v", s, err)
	}
	r = enginetest.New(t, enginetest.Options{Embeddings: "script"})
	err := r.Engine.CheckEmbedder(t.Context(), false)
	if scrollback.CodeOf(err) != scrollback.Invalid || !strings.Contains(err.Error(), "has no embeddings") {
		t.Errorf("a model without embeddings: %v", err)
	}
}

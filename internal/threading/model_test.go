package threading_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// entry is an item of a client's history, and where it is on the path that the model expects.
type entry struct {
	item threading.Item
	at   int
}

// talk is what a stateless client has of a conversation, and what is expected to be stored.
type talk struct {
	name    string
	bare    bool // its calls have no ids
	history []entry
	path    []string // everything that was said on the way here
	thread  threading.ThreadID
	summary []string // the path to the summary with which the history begins, if it does
}

func (k *talk) String() string {
	var out strings.Builder
	for _, e := range k.history {
		fmt.Fprintf(&out, "  %d %s %s\n", e.at, e.item.Role, e.item.Text)
	}
	return out.String()
}

// client plays clients that resend their histories, and knows what should come of it.
type client struct {
	*desk
	*rand.Rand
	texts int
	now   time.Time
	log   []string
}

func (c *client) text(what string) string {
	c.texts++
	return fmt.Sprintf("%s number %d, and nothing else", what, c.texts)
}

func (c *client) request(k *talk) *threading.Request {
	r := &threading.Request{Dialect: threading.Chat, Model: "m", Tools: []string{"ls"}, Name: k.name,
		System: []string{"You are a client."}}
	for _, e := range k.history {
		r.Items = append(r.Items, e.item)
	}
	r.Body = threading.HashOf(fmt.Sprint(r.Items))
	return r
}

// say adds something to the history, behind a path.
func (k *talk) say(item threading.Item, path []string) {
	k.path = append(slices.Clone(path), item.Text)
	k.history = append(k.history, entry{item, len(k.path) - 1})
}

// send sends the history and compares where it went with what the model expects: as many atoms are new as said.
func (c *client) send(k *talk, begins bool, fresh int) *threading.Match {
	c.t.Helper()
	c.now = c.now.Add(2 * time.Minute)
	m := c.begin(c.request(k), c.now)
	var path []string
	for _, a := range c.memory.Path(c.memory.End(m)) {
		path = append(path, strings.TrimPrefix(c.said[a.Key], "ls "))
	}
	if !slices.Equal(path, k.path) {
		same := 0
		for same < min(len(path), len(k.path)) && path[same] == k.path[same] {
			same++
		}
		c.fatalf("%s %s: behind %d atoms the path is\n%s\nwanted\n%s\nsent\n%s", m.Purpose, m.Course, same,
			strings.Join(path[max(0, same-2):], "\n"), strings.Join(k.path[max(0, same-2):], "\n"), k)
	}
	if len(m.New) != fresh {
		c.fatalf("%s %s: %d atoms are new, not %d", m.Purpose, m.Course, len(m.New), fresh)
	}
	if !begins && m.Thread != k.thread {
		c.fatalf("%s %s: it is in %s, not in %s", m.Purpose, m.Course, m.Thread, k.thread)
	}
	if begins && m.Thread == k.thread {
		c.fatalf("%s %s: it is in the old thread", m.Purpose, m.Course)
	}
	k.thread = m.Thread
	return m
}

func (c *client) fatalf(format string, args ...any) {
	c.t.Helper()
	c.t.Fatalf("after\n%s\n"+format, append([]any{strings.Join(c.log[max(0, len(c.log)-40):], "\n")}, args...)...)
}

func user(text string) threading.Item {
	return threading.Item{Role: threading.User, Kind: threading.Text, Text: text}
}

func assistant(text string) threading.Item {
	return threading.Item{Role: threading.Assistant, Kind: threading.Text, Text: text}
}

// answer answers a request: whole, with a call, cut off, or not at all.
func (c *client) answer(k *talk, m *threading.Match, sure bool) {
	words := assistant(c.text("An answer"))
	switch at := c.IntN(10); {
	case at < 5 || sure:
		c.finish(m, threading.Answer{State: threading.Finished, Delivered: true, Items: []threading.Item{words}}, c.now)
		k.say(words, k.path)
	case at < 8:
		c.useTools(k, m, words)
	case at < 9:
		c.finish(m, threading.Answer{State: threading.Interrupted, Items: []threading.Item{words}}, c.now)
		k.path = append(slices.Clone(k.path), words.Text)
		if c.IntN(2) == 0 { // the client shows the beginning of it
			k.history = append(k.history, entry{assistant(words.Text[:12+c.IntN(8)]), len(k.path) - 1})
		}
	default:
		c.finish(m, threading.Answer{State: threading.Failed}, c.now)
		m = c.send(k, false, 0)
		if m.Purpose != threading.Retry {
			c.fatalf("a retry is a %s", m.Purpose)
		}
		c.answer(k, m, true)
	}
}

// useTools answers with calls, whose results the client sends in some order, or which it gives up.
func (c *client) useTools(k *talk, m *threading.Match, words threading.Item) {
	var calls, results []threading.Item
	for range 1 + c.IntN(3) {
		c.texts++
		call := threading.Item{Role: threading.Assistant, Kind: threading.Call, Name: "ls",
			Text: fmt.Sprintf(`{"path":"%d"}`, c.texts), ID: fmt.Sprintf("call%d", c.texts)}
		if k.bare {
			call.ID = ""
		}
		calls = append(calls, call)
		results = append(results, threading.Item{Role: threading.Tool, Kind: threading.Result, Text: c.text("A result"),
			ID: call.ID})
	}
	items := append([]threading.Item{words}, calls...)
	c.finish(m, threading.Answer{State: threading.Finished, Delivered: true, Items: items}, c.now)
	k.say(words, k.path)
	if c.IntN(6) == 0 { // the client shows none of the calls
		for _, call := range calls {
			k.path = append(slices.Clone(k.path), call.Text)
		}
		return
	}
	for _, call := range calls {
		k.say(call, k.path)
		if c.IntN(3) == 0 && !k.bare {
			k.history[len(k.history)-1].item.Text = `{"path":"rewritten"}`
		}
	}
	c.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
	for _, result := range results {
		k.say(result, k.path)
	}
	m = c.send(k, false, len(results))
	if m.Purpose != threading.ToolStep {
		c.fatalf("results of tools are a %s", m.Purpose)
	}
	c.answer(k, m, true)
}

// turns returns the places of user texts in a history, behind a summary.
func (k *talk) turns() []int {
	var out []int
	for i, e := range k.history {
		if e.item.Role == threading.User && (i > 0 || k.summary == nil) {
			out = append(out, i)
		}
	}
	return out
}

// step does one thing with a conversation. It returns a new one, if one was begun.
func (c *client) step(k *talk) *talk {
	turns := k.turns()
	note := func(what string) { c.log = append(c.log, fmt.Sprintf("%s (%s) %s", k.thread, k.name, what)) }
	switch at := c.IntN(20); {
	case at < 8 || len(turns) == 0:
		note("say")
		k.say(user(c.text("A prompt")), k.path)
		c.answer(k, c.send(k, false, 1), false)
	case at < 10:
		note("edit")
		i := turns[c.IntN(len(turns))]
		begins := i == 0
		path := k.path[:k.history[i].at]
		if i == 1 && k.summary != nil {
			path = k.summary
		}
		for i > 1 && k.summary != nil && k.history[0].at > k.history[i].at &&
			strings.Contains(path[len(path)-1], "compacted: ") {
			path = path[:len(path)-1] // the client went back behind its newest summary, and an older one is not shown
		}
		k.history = slices.Clone(k.history[:i])
		k.say(user(c.text("An edited prompt")), path)
		c.answer(k, c.send(k, begins, 1), begins)
	case at < 12:
		i := turns[len(turns)-1]
		if i == len(k.history)-1 || k.history[i+1].item.Kind != threading.Text || k.history[i].at+1 != k.history[i+1].at {
			return nil
		}
		note("regenerate")
		begins := i == 0 && k.name == ""
		fresh := 0
		if begins {
			fresh = 1
		}
		k.path = slices.Clone(k.path[:k.history[i].at+1])
		k.history = slices.Clone(k.history[:i+1])
		m := c.send(k, begins, fresh)
		if !begins && m.Purpose != threading.Regenerate && m.Purpose != threading.Retry {
			c.fatalf("asking for another answer is a %s", m.Purpose)
		}
		c.answer(k, m, true)
	case at < 14:
		note("fork")
		fork := &talk{bare: k.bare, history: slices.Clone(k.history), path: slices.Clone(k.path), thread: k.thread,
			summary: k.summary}
		if k.name != "" {
			fork.name = c.text("fork")
		}
		fresh := 1
		if quote := k.history[0]; fork.name != "" && k.summary != nil && !slices.Contains(k.path, quote.item.Text) {
			// The client had gone back behind its compaction: the summary is not on the path that is forked.
			fork.path = append(fork.path, quote.item.Text)
			fork.history[0].at = len(fork.path) - 1
			fork.summary = slices.Clone(fork.path)
			fresh++
		}
		fork.say(user(c.text("A prompt of a fork")), fork.path)
		m := c.send(fork, fork.name != "", fresh)
		if fork.name != "" && (m.Course != threading.Forks || m.Fork != k.thread) {
			c.fatalf("a fork of %s is %s of %s", k.thread, m.Course, m.Fork)
		}
		c.answer(fork, m, true)
		return fork
	case at < 16:
		if len(k.history) < 4 {
			return nil
		}
		note("compact")
		c.compact(k)
	case at < 17:
		note("title")
		title := &talk{name: k.name, history: []entry{{item: user("Generate a title for this conversation: " + k.path[0])}}}
		r := c.request(title)
		r.Tools = nil
		c.now = c.now.Add(2 * time.Minute)
		m := c.begin(r, c.now)
		if m.Side != "title" || k.name != "" && m.Thread != k.thread && !c.shares(k, m.Thread) {
			c.fatalf("a title is a %s %q of %s", m.Purpose, m.Side, m.Thread)
		}
		c.finish(m, threading.Answer{State: threading.Finished, Delivered: true,
			Items: []threading.Item{assistant("A title")}}, c.now)
	default:
		note("forget tools")
		k.history = slices.DeleteFunc(k.history, func(e entry) bool {
			return e.item.Kind == threading.Call || e.item.Kind == threading.Result
		})
		k.say(user(c.text("A prompt without tools")), k.path)
		c.answer(k, c.send(k, false, 1), false)
	}
	return nil
}

// shares reports whether a name has named another thread too.
func (c *client) shares(k *talk, thread threading.ThreadID) bool {
	lanes, err := c.memory.Named(context.Background(), c.scope, k.name, 64)
	if err != nil {
		c.t.Fatal(err)
	}
	return slices.ContainsFunc(lanes, func(row threading.ThreadRow) bool { return row.ID == thread })
}

// compact asks for a summary, and puts it in the place of the history but for its end.
func (c *client) compact(k *talk) {
	asking := &talk{name: k.name, history: append(slices.Clone(k.history),
		entry{item: user("You are performing a CONTEXT CHECKPOINT COMPACTION.")})}
	m := c.begin(c.request(asking), c.now)
	if m.Purpose != threading.SideCall || !m.Summary {
		c.fatalf("a summary is a %s", m.Purpose)
	}
	shownUpTo := k.history[len(k.history)-1].at + 1
	if end := len(c.memory.Path(m.Base)); end < shownUpTo || end > len(k.path) {
		c.fatalf("the history that is summarised ends behind %d atoms of %d\n%s", end, len(k.path), k)
	}
	summary := c.text("A summary of it all")
	c.finish(m, threading.Answer{State: threading.Finished, Delivered: true,
		Items: []threading.Item{assistant(summary)}}, c.now)
	turns := k.turns()
	kept := []entry{}
	if len(turns) > 0 && c.IntN(2) == 0 {
		kept = k.history[turns[c.IntN(len(turns))]:]
	}
	quote := user("What came before was compacted: " + summary)
	path := append(slices.Clone(k.path), quote.Text)
	history := append([]entry{{quote, len(path) - 1}}, kept...)
	k.history = slices.Clone(history)
	k.path = path
	k.summary = path
	k.say(user(c.text("A prompt after compacting")), k.path)
	k.path = slices.Clone(k.path)
	m = c.send(k, false, 2)
	if m.Compaction == nil || m.Compaction.Summary != summary || !m.Less {
		c.fatalf("the compaction is not recognised: %+v", m.Compaction)
	}
	shown := map[string]bool{}
	for _, e := range history {
		shown[e.item.Text] = true
	}
	for _, a := range c.memory.Path(m.Base) {
		said := strings.TrimPrefix(c.said[a.Key], "ls ")
		if a.Kind == threading.Call || a.Partial {
			continue // clients rewrite the arguments, and show the beginning of an answer
		}
		through := m.Compaction.Through.Seq
		if a.Place.Seq > through && !shown[said] || a.Place.Seq == through && shown[said] {
			c.fatalf("the compaction goes through atom %d of %d, but atom %d is %q", through, m.Base.Seq, a.Place.Seq, said)
		}
	}
	c.answer(k, m, true)
}

// What clients without a memory of their own do, at random, is stored as a person would expect.
func TestStatelessClients(t *testing.T) {
	for seed := range testlength.Choose(uint64(20), 200, 5000) {
		c := &client{desk: newDesk(t), Rand: rand.New(rand.NewPCG(seed, 32)), now: time.Unix(1_800_000_000, 0)}
		c.log = []string{fmt.Sprintf("seed %d", seed)}
		if seed%4 == 3 {
			c.matcher.Index = slowIndex{c.memory}
		}
		var talks []*talk
		for range 200 {
			if len(talks) < 2 || c.IntN(30) == 0 {
				k := &talk{bare: c.IntN(3) == 0}
				if c.IntN(2) == 0 {
					k.name = c.text("name")
				}
				first := c.text("A first prompt")
				if c.IntN(2) == 0 {
					first = "Hello, who are you?"
				}
				c.log = append(c.log, "begin ("+k.name+")")
				k.say(user(first), nil)
				c.answer(k, c.send(k, true, 1), true)
				talks = append(talks, k)
			}
			if fork := c.step(talks[c.IntN(len(talks))]); fork != nil {
				talks = append(talks, fork)
			}
		}
	}
}

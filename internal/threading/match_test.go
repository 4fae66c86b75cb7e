package threading_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

var noon = time.Unix(1_800_000_000, 0)

// ask returns a request with a history of texts: what the user said, what was answered, and so on.
func ask(name string, texts ...string) *threading.Request {
	r := &threading.Request{Dialect: threading.Chat, Model: "m", Name: name, Tools: []string{"ls"},
		Body: threading.HashOf(append([]string{name}, texts...)...)}
	for i, text := range texts {
		if i%2 == 0 {
			r.Items = append(r.Items, user(text))
		} else {
			r.Items = append(r.Items, assistant(text))
		}
	}
	return r
}

func finished(text string) threading.Answer {
	return threading.Answer{State: threading.Finished, Delivered: true, Items: []threading.Item{assistant(text)}}
}

// turn threads a request and answers it.
func (d *desk) turn(r *threading.Request, answer string, at time.Time) *threading.Match {
	d.t.Helper()
	m := d.begin(r, at)
	d.finish(m, finished(answer), at)
	return m
}

// An answer that its client gave up, and that is stopped when the client has gone on already, is not the end of the
// thread.
func TestLateEnd(t *testing.T) {
	d := newDesk(t)
	d.turn(ask("s", "Hello"), "Good morning", noon)
	slow := d.begin(ask("s", "Hello", "Good morning", "Count to a hundred"), noon.Add(time.Second))
	r := ask("s", "Hello", "Good morning", "Count to a hundred")
	r.Items = append(r.Items, user("Never mind"))
	r.Body = threading.HashOf("never mind")
	d.turn(r, "Gladly", noon.Add(2*time.Second))
	before, err := d.memory.Thread(t.Context(), slow.Thread)
	if err != nil || before == nil {
		t.Fatal(before, err)
	}
	tip := before.Tip
	d.finish(slow, threading.Answer{State: threading.Interrupted, Items: []threading.Item{assistant("1, 2")}},
		noon.Add(12*time.Second))
	after, err := d.memory.Thread(t.Context(), slow.Thread)
	if err != nil || after.Tip != tip {
		t.Errorf("the thread ends at %+v, not %+v (%v)", after.Tip, tip, err)
	}
}

// want compares what a request was found to be with what it is.
func want(t *testing.T, m *threading.Match, purpose threading.Purpose, course threading.Course) {
	t.Helper()
	if m.Purpose != purpose || m.Course != course {
		t.Errorf("it is a %s that %s, not a %s that %s", m.Purpose, m.Course, purpose, course)
	}
}

// The same request again joins, is retried, asks for another answer, or is answered with what is there.
func TestSameRequestAgain(t *testing.T) {
	t.Run("joins while the first runs", func(t *testing.T) {
		d := newDesk(t)
		first := d.begin(ask("", "Hello"), noon)
		second := d.begin(ask("", "Hello"), noon.Add(time.Second))
		want(t, second, threading.Join, "")
		if second.Thread != first.Thread || second.Earlier == nil || len(d.memory.Atoms()) != 1 {
			t.Errorf("it joins %+v in %s", second.Earlier, second.Thread)
		}
	})
	t.Run("is retried where there is no finished answer", func(t *testing.T) {
		for _, state := range []threading.State{threading.Failed, threading.Interrupted} {
			d := newDesk(t)
			first := d.begin(ask("", "Hello"), noon)
			d.finish(first, threading.Answer{State: state, Items: []threading.Item{assistant("Half an ans")}}, noon)
			second := d.begin(ask("", "Hello"), noon.Add(time.Second))
			want(t, second, threading.Retry, threading.Continues)
			if second.Thread != first.Thread || len(second.New) != 0 {
				t.Errorf("%s: %d atoms are new in %s", state, len(second.New), second.Thread)
			}
		}
	})
	t.Run("is another answer after one that arrived", func(t *testing.T) {
		d := newDesk(t)
		first := d.turn(ask("s", "Hello"), "Good morning", noon)
		second := d.turn(ask("s", "Hello"), "Good evening", noon.Add(time.Second))
		want(t, second, threading.Regenerate, threading.Continues)
		third := d.turn(ask("s", "Hello", "Good evening", "Go on"), "I do", noon.Add(2*time.Second))
		want(t, third, threading.Turn, threading.Continues)
		if n := len(d.memory.Path(d.memory.End(third))); second.Thread != first.Thread || n != 3 {
			t.Errorf("the path has %d atoms", n)
		}
	})
	t.Run("is a new conversation without a name and an answer in it", func(t *testing.T) {
		d := newDesk(t)
		first := d.turn(ask("", "Hello"), "Good morning", noon)
		second := d.turn(ask("", "Hello"), "Good evening", noon.Add(time.Second))
		want(t, second, threading.Turn, threading.Begins)
		if second.Thread == first.Thread {
			t.Error("two conversations are one")
		}
	})
	t.Run("gets the stored answer where nobody knows whether it arrived", func(t *testing.T) {
		d := newDesk(t)
		first := d.begin(ask("", "Hello"), noon)
		answer := finished("Good morning")
		answer.Delivered = false
		d.finish(first, answer, noon)
		second := d.begin(ask("", "Hello"), noon.Add(59*time.Second))
		want(t, second, threading.Replay, "")
		third := d.begin(ask("", "Hello"), noon.Add(61*time.Second))
		if third.Purpose == threading.Replay {
			t.Error("the answer is sent again after a minute")
		}
	})
	t.Run("is a call eight times a minute at most", func(t *testing.T) {
		d := newDesk(t)
		var calls, replays, refusals int
		for i := range 150 {
			m := d.begin(ask("", "Hello", "Good morning", "And now?"), noon.Add(time.Duration(i)*400*time.Millisecond))
			switch {
			case m.IsCall():
				calls++
				d.finish(m, finished(fmt.Sprintf("Answer %d", i)), noon.Add(time.Duration(i)*400*time.Millisecond))
			case m.Purpose == threading.Replay:
				replays++
			case m.Purpose == threading.Refuse && m.RetryAfter >= time.Second:
				refusals++
			}
		}
		if calls != 8 || replays != 22 || refusals != 120 {
			t.Errorf("%d calls, %d replays, %d refusals", calls, replays, refusals)
		}
	})
	t.Run("is refused where nothing can be sent again", func(t *testing.T) {
		d := newDesk(t)
		for i := range 9 {
			m := d.begin(ask("s", "Hello"), noon.Add(time.Duration(i)*time.Second))
			if (m.Purpose == threading.Refuse) != (i == 8) {
				t.Errorf("request %d is a %s", i, m.Purpose)
			}
			d.finish(m, threading.Answer{State: threading.Failed}, noon.Add(time.Duration(i)*time.Second))
		}
	})
	t.Run("is not the same under another name", func(t *testing.T) {
		d := newDesk(t)
		first := ask("s", "Hello")
		other := ask("s", "Hello")
		other.Name = "other"
		m := d.begin(first, noon)
		if n := d.begin(other, noon); n.Purpose == threading.Join || n.Thread == m.Thread {
			t.Errorf("it is a %s of %s", n.Purpose, n.Thread)
		}
	})
	t.Run("with another body while the first runs", func(t *testing.T) {
		d := newDesk(t)
		other := ask("", "Hello")
		other.Body = threading.HashOf("another temperature")
		m := d.begin(ask("", "Hello"), noon)
		if n := d.begin(other, noon); n.Thread == m.Thread {
			t.Errorf("it is a %s of the conversation that runs", n.Purpose)
		}
	})
}

// A turn beside the path is a leaf if it was none of the path and the path went on without it.
func TestLeaves(t *testing.T) {
	begin := func(t *testing.T) (*desk, *threading.Match) {
		d := newDesk(t)
		m := d.turn(ask("s", "One", "Answer one, which is long", "Two"), "Answer two, which is long", noon)
		return d, m
	}
	history := []string{"One", "Answer one, which is long", "Two", "Answer two, which is long"}
	beside := func() *threading.Request {
		r := ask("s", append(slices.Clone(history), "Suggest something")...)
		r.Tools = []string{"other"}
		return r
	}
	further := slices.Concat(history, []string{"Three", "Answer three"})
	t.Run("before the path went on", func(t *testing.T) {
		d, _ := begin(t)
		side := d.turn(beside(), "A suggestion", noon)
		next := d.turn(ask("s", append(slices.Clone(history), "Three")...), "Answer three", noon)
		if len(next.Leaves) != 0 {
			t.Error("the newest turn is a leaf")
		}
		after := d.turn(ask("s", append(slices.Clone(further), "Four")...), "Answer four", noon)
		if len(after.Leaves) != 1 || after.Thread != side.Thread {
			t.Errorf("leaves: %v", after.Leaves)
		}
		more := append(slices.Clone(further), "Four", "Answer four", "Five")
		if again := d.turn(ask("s", more...), "", noon); len(again.Leaves) != 0 {
			t.Errorf("it is found again: %v", again.Leaves)
		}
	})
	t.Run("after the path went on", func(t *testing.T) {
		d, _ := begin(t)
		d.turn(ask("s", append(slices.Clone(history), "Three")...), "Answer three", noon)
		d.turn(ask("s", append(slices.Clone(further), "Four")...), "Answer four", noon)
		if side := d.turn(beside(), "A suggestion", noon); side.Course != threading.Branches || len(side.Leaves) != 0 {
			t.Errorf("it is %s with leaves %v", side.Course, side.Leaves)
		}
		after := d.turn(ask("s", append(slices.Clone(further), "Four", "Answer four", "Five")...), "Answer five", noon)
		if len(after.Leaves) != 1 {
			t.Errorf("leaves: %v", after.Leaves)
		}
	})
	t.Run("while another request ran", func(t *testing.T) {
		d, _ := begin(t)
		main := d.begin(ask("s", append(slices.Clone(history), "Three")...), noon)
		side := d.begin(ask("s", append(slices.Clone(history), "A question beside")...), noon)
		d.finish(side, finished("An aside"), noon)
		d.finish(main, finished("Answer three"), noon)
		after := d.turn(ask("s", append(slices.Clone(further), "Four")...), "Answer four", noon)
		if len(after.Leaves) != 1 {
			t.Errorf("leaves: %v", after.Leaves)
		}
	})
	t.Run("not what a person edited away", func(t *testing.T) {
		d, _ := begin(t)
		d.turn(ask("s", append(slices.Clone(history), "Thrice")...), "What?", noon)
		d.turn(ask("s", append(slices.Clone(history), "Three")...), "Answer three", noon)
		if after := d.turn(ask("s", append(slices.Clone(further), "Four")...), "Answer four", noon); len(after.Leaves) != 0 {
			t.Errorf("leaves: %v", after.Leaves)
		}
	})
	t.Run("not what was gone on from", func(t *testing.T) {
		d, _ := begin(t)
		d.turn(beside(), "A suggestion", noon)
		d.turn(ask("s", append(slices.Clone(history), "Suggest something", "A suggestion", "Take it")...), "Done", noon)
		d.turn(ask("s", append(slices.Clone(history), "Three")...), "Answer three", noon)
		if after := d.turn(ask("s", append(slices.Clone(further), "Four")...), "Answer four", noon); len(after.Leaves) != 0 {
			t.Errorf("leaves: %v", after.Leaves)
		}
	})
	t.Run("a call under the name without history and tools", func(t *testing.T) {
		d, main := begin(t)
		side := ask("s", "How would you rate this?")
		side.Tools = nil
		m := d.turn(side, "Five stars", noon)
		if m.Thread != main.Thread || !m.Leaf {
			t.Errorf("it is %s of %s", m.Course, m.Thread)
		}
		agent := d.turn(ask("s", "You are a sub-agent."), "I am", noon)
		if agent.Thread == main.Thread || agent.Course != threading.NewLane {
			t.Errorf("a sub-agent is %s of %s", agent.Course, agent.Thread)
		}
	})
}

// Two callers never meet, not with the same name, nor with the same words; only a name of ours reaches across.
func TestScopes(t *testing.T) {
	d := newDesk(t)
	ours := d.scope
	talk := []string{"One", "Answer one, which is long", "Two", "Answer two, which is long", "Three"}
	first := ask("s", talk[:3]...)
	m := d.turn(first, talk[3], noon)
	call := threading.Item{Role: threading.Assistant, Kind: threading.Call, Name: "ls", Text: "{}", ID: "call1"}
	answer := finished("I look")
	answer.Items = append(answer.Items, call)
	answer.ID = "answer1"
	d.finish(d.begin(ask("s", talk...), noon), answer, noon)
	for _, scope := range []threading.Scope{{Project: "p", Caller: "d"}, {Project: "q", Caller: "c"}, {Project: "p"}} {
		d.scope = scope
		transcript := ask("", "User: One. Assistant: Answer one, which is long. User: Two. Assistant: Answer two, which is "+
			"long. User: Three. Assistant: I look. And now tell me what all of this was about, in a few words that I can "+
			"read at a glance, please, and nothing else.")
		transcript.Tools = nil
		if o := d.begin(transcript, noon); o.Thread == m.Thread || o.Side != "" {
			t.Errorf("%v: a transcript is a %s of %s", scope, o.Purpose, o.Thread)
		}
		for _, r := range []*threading.Request{ask("s", talk...), ask("", talk...), first, ask("", talk[:3]...)} {
			if o := d.begin(r, noon); o.Thread == m.Thread || o.Fork != "" {
				t.Errorf("%v: it is a %s of %s", scope, o.Purpose, o.Thread)
			}
		}
		result := ask("")
		result.Items = []threading.Item{call, {Role: threading.Tool, Kind: threading.Result, Text: "a", ID: "call1"}}
		if o := d.begin(result, noon); o.Thread == m.Thread {
			t.Errorf("%v: a call id leads to %s", scope, o.Thread)
		}
		chained := ask("", "And then?")
		chained.Chain = "answer1"
		if o := d.begin(chained, noon); o.Thread == m.Thread || !o.UnknownChain {
			t.Errorf("%v: an answer's id leads to %s", scope, o.Thread)
		}
	}
	d.scope = ours
	named := func(words ...string) *threading.Request {
		r := ask("scrollback:work", words...)
		r.Explicit = true
		return r
	}
	own := d.turn(named("A", "B"), "C", noon)
	d.scope = threading.Scope{Project: "p", Caller: "d"}
	if o := d.turn(named("A", "B", "C", "D"), "E", noon); o.Thread != own.Thread {
		t.Errorf("our own name leads to %s, not to %s", o.Thread, own.Thread)
	}
	if o := d.turn(named("Quite another beginning"), "E", noon); o.Thread != own.Thread || o.Course != threading.Branches {
		t.Errorf("our own name has another lane: %s, %s", o.Thread, o.Course)
	}
	d.scope = threading.Scope{Project: "q", Caller: "c"}
	if o := d.begin(named("A", "B", "C", "D"), noon); o.Thread == own.Thread {
		t.Error("our own name leads into another project")
	}
}

// A transcript of what we answered, without tools, asks for a summary, in whatever words.
func TestTranscript(t *testing.T) {
	d := newDesk(t)
	m := d.turn(ask("", "One", "Answer one, which is long", "Two"), "Answer two, which is long", noon)
	words := "[User]: One\n[Assistant]: Answer one,\n which is long\n[User]: Two\n[Assistant]: Answer two, which is long\n" +
		"Write down what this was about, in a few words that another model can go on with, and nothing else, please."
	for _, tools := range []bool{false, true} {
		r := ask("", words+words)
		r.Body = threading.HashOf(fmt.Sprint(tools))
		if !tools {
			r.Tools = nil
		}
		if o := d.begin(r, noon); o.Summary == tools || (o.Thread == m.Thread) == tools {
			t.Errorf("with tools %v it is a %s %q of %s", tools, o.Purpose, o.Side, o.Thread)
		}
	}
	once := ask("", "What do you make of this: Answer two, which is long. "+words[len(words)-110:]+words[len(words)-110:])
	once.Tools = nil
	if o := d.begin(once, noon); o.Side != "" {
		t.Errorf("one quote makes it a %s", o.Side)
	}
}

// So has one that takes the tags out of a short one.
func TestShortSummary(t *testing.T) {
	d := newDesk(t)
	talk := []string{"One", "Answer one, which is long", "Two"}
	m := d.turn(ask("", talk...), "Answer two, which is long", noon)
	asking := append(slices.Clone(talk), "Answer two, which is long", "CRITICAL: Respond with TEXT ONLY.")
	d.turn(ask("", asking...), "It is short.\n<state_snapshot><goal>Reading a file.</goal>\n</state_snapshot>", noon)
	r := ask("", "It is short.\n\nReading a file.")
	r.Items = append(r.Items, user("Three"))
	if o := d.begin(r, noon); o.Thread != m.Thread || o.Course != threading.Compacted || len(o.New) != 2 {
		t.Errorf("it %s in %s with %d new atoms", o.Course, o.Thread, len(o.New))
	}
	if o := d.begin(ask("", "Reading a file."), noon); o.Course == threading.Compacted {
		t.Error("a part of a short summary quotes it")
	}
}

// A client that takes the reasoning and the tags out of a summary has compacted all the same.
func TestRewrittenSummary(t *testing.T) {
	for _, c := range []struct {
		name   string
		points int // of the summary: a short one has one
	}{{"", 20}, {"s", 20}, {"", 1}, {"s", 1}} {
		name := c.name
		d := newDesk(t)
		talk := []string{"One", "Answer one, which is long", "Two"}
		m := d.turn(ask(name, talk...), "Answer two, which is long", noon)
		var reasoning, summary strings.Builder
		for i := range c.points {
			fmt.Fprintf(&reasoning, "Let me think about point %d of it. ", i)
			fmt.Fprintf(&summary, "%d. The user asked for thing number %d, and it was done in file %d.\n", i, i*7, i*13)
		}
		asking := append(slices.Clone(talk), "Answer two, which is long", "CRITICAL: Respond with TEXT ONLY.")
		d.turn(ask(name, asking...), "<analysis>"+reasoning.String()+"</analysis>\n\n<summary>\n"+summary.String()+"</summary>", noon)
		quote := "This session goes on from an earlier one.\n\nSummary:\n" + summary.String() + "\nGo on."
		r := ask(name, quote)
		r.Items = append(r.Items, user("Three"))
		o := d.begin(r, noon)
		if o.Thread != m.Thread || o.Course != threading.Compacted || len(o.New) != 2 || o.Base != d.memory.Tip(m) {
			t.Errorf("%+v: it %s in %s with %d new atoms", c, o.Course, o.Thread, len(o.New))
		}
	}
}

// A summary that was asked for in words that nobody knows is recognised where the history quotes it, and its turn is a
// leaf. What a person pastes into a new conversation, or an agent into the prompt of another one, is none.
func TestUnnoticedSummary(t *testing.T) {
	talk := []string{"One", "Answer one, which is long", "Two"}
	asking := append(slices.Clone(talk), "Answer two, which is long", "Now put all of it in a nutshell.")
	summary := "In a nutshell: one was answered, and so was two."
	for _, name := range []string{"", "s"} {
		d := newDesk(t)
		main := d.turn(ask(name, talk...), "Answer two, which is long", noon)
		side := d.turn(ask(name, asking...), summary, noon)
		kept := ask(name, "One", "", "Two")
		kept.Items = []threading.Item{user("One"), user("Two"), user("Here is what was said before: " + summary), user("Three")}
		o := d.begin(kept, noon)
		if o.Thread != main.Thread || o.Course != threading.Compacted || len(o.New) != 2 || o.Base != d.memory.Tip(main) ||
			len(o.Leaves) != 1 || o.Compaction.Request != d.memory.ID(side) {
			t.Errorf("name %q: it %s in %s behind %v with %d new atoms", name, o.Course, o.Thread, o.Base, len(o.New))
		}
	}
	d := newDesk(t)
	main := d.turn(ask("", talk...), summary, noon)
	if o := d.begin(ask("", "Somebody told me: "+summary+" Is that so?"), noon); o.Thread == main.Thread {
		t.Error("an answer that was pasted leads to its conversation")
	}
	plan := d.begin(ask("s", talk...), noon)
	answer := finished(summary)
	answer.Items = append(answer.Items, threading.Item{Role: threading.Assistant, Kind: threading.Call, Name: "agent",
		Text: "{}", ID: "call1"})
	d.finish(plan, answer, noon)
	if o := d.begin(ask("s", "Review this plan: "+summary), noon); o.Course != threading.NewLane {
		t.Errorf("a reviewer %s of %s", o.Course, o.Thread)
	}
}

// A request that names an answer and sends the whole history all the same doubles nothing.
func TestChainWithTheWholeHistory(t *testing.T) {
	d := newDesk(t)
	m := d.begin(ask("", "One"), noon)
	answer := finished("Answer one, which is long")
	answer.ID = "resp_1"
	d.finish(m, answer, noon)
	delta := ask("", "Two")
	delta.Chain = "resp_1"
	two := d.begin(delta, noon.Add(time.Hour))
	want(t, two, threading.Turn, threading.Chained)
	d.finish(two, threading.Answer{State: threading.Failed}, noon.Add(time.Hour))
	whole := ask("", "One", "Answer one, which is long", "Three")
	whole.Chain = "resp_1"
	if o := d.begin(whole, noon.Add(2*time.Hour)); o.Thread != m.Thread || len(o.New) != 1 || o.Base.Seq != 2 {
		t.Errorf("it %s with %d new atoms behind %v", o.Course, len(o.New), o.Base)
	}
	again := d.begin(delta, noon.Add(3*time.Hour))
	if again.Purpose != threading.Retry || len(d.memory.Atoms()) != 4 {
		t.Errorf("the same again is a %s, and there are %d atoms", again.Purpose, len(d.memory.Atoms()))
	}
}

// Many at once each get their place, and nothing is stored twice.
func TestManyAtOnce(t *testing.T) {
	d := newDesk(t)
	d.turn(ask("s", "One"), "Answer one, which is long", noon)
	write := func(i, tries int, rows func(id string) (threading.Rows, error)) {
		for try := range tries {
			made, err := rows(fmt.Sprintf("%d.%d", i, try))
			if err != nil {
				t.Error(err)
				return
			}
			if err = d.memory.Write(made); err == nil {
				return
			}
			if !errors.Is(err, threading.ErrTaken) {
				t.Error(err)
				return
			}
		}
		t.Errorf("request %d found no place", i)
	}
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			request := ask("s", "One", "Answer one, which is long", fmt.Sprintf("Branch %d", i%100))
			request.Body = threading.HashOf(fmt.Sprint(i))
			if i%2 == 1 {
				request = ask(fmt.Sprintf("agent %d", i), fmt.Sprintf("Task %d", i))
			}
			var m *threading.Match
			branches := 0
			write(i, 500, func(id string) (threading.Rows, error) {
				var err error
				if m, err = d.matcher.Match(context.Background(), d.scope, request, noon); err != nil {
					return threading.Rows{}, err
				}
				return m.Begin(threading.IDs{Thread: threading.ThreadID("t" + id), Request: threading.RequestID("r" + id),
					Branch: func() threading.BranchID {
						branches++
						return threading.BranchID(fmt.Sprintf("b%s.%d", id, branches))
					}}), nil
			})
			write(i, 500, func(id string) (threading.Rows, error) {
				return d.matcher.Finish(context.Background(), m, finished(fmt.Sprintf("Answer %d", i)), noon,
					func() threading.BranchID { return threading.BranchID("f" + id) })
			})
		})
	}
	all.Wait()
	seen := map[string]int{}
	for _, a := range d.memory.Atoms() {
		seen[fmt.Sprint(a.Thread, a.Parent, a.Key)]++
	}
	// Every second request is one of fifty branches, the others are of agents; each has its answer.
	if len(seen) != 2+50+100+2*100 {
		t.Errorf("%d things were said", len(seen))
	}
}

// What goes on costs as many look-ups behind a long history as behind a short one, and so many items end.
func TestCost(t *testing.T) {
	count := func(n int, name string) (going, fresh, edited int) {
		d := newDesk(t)
		var texts []string
		for i := range n {
			texts = append(texts, fmt.Sprintf("Text number %d", i))
		}
		look := func(work func()) int {
			before := d.memory.LookUps()
			work()
			return d.memory.LookUps() - before
		}
		texts = append(texts, "The end")
		fresh = look(func() { d.turn(ask(name, texts...), "Answer", noon) })
		texts = append(texts, "Answer", "Go on")
		going = look(func() {
			if m := d.turn(ask(name, texts...), "I do", noon); m.Course != threading.Continues || len(m.New) != 1 {
				t.Errorf("behind %d items it %s with %d new", n, m.Course, len(m.New))
			}
		})
		texts = append(texts[:n/2], "Something else")
		edited = look(func() {
			if m := d.turn(ask(name, texts...), "I do", noon); m.Course != threading.Branches || len(m.New) != 1 {
				t.Errorf("in the midst of %d items it %s with %d new", n, m.Course, len(m.New))
			}
		})
		return going, fresh, edited
	}
	for _, name := range []string{"", "s"} {
		short, _, shortEdit := count(80, name)
		items := testlength.Choose(20_000, 100_000, 100_000)
		long, fresh, longEdit := count(items, name)
		t.Logf("name %q: %d look-ups to go on behind 80 items, %d behind %d; to edit %d and %d; to begin with so many %d",
			name, short, long, items, shortEdit, longEdit, fresh)
		if long > short || longEdit > shortEdit+2 || fresh > 2*items/256+20 {
			t.Errorf("name %q: going on costs %d look-ups, then %d; editing %d, then %d; beginning %d", name, short, long,
				shortEdit, longEdit, fresh)
		}
	}
}

// A history of one text, of orphans, of doubles and of nothing is threaded, and ends.
func TestStrangeHistories(t *testing.T) {
	d := newDesk(t)
	var same []string
	for range 20_000 {
		same = append(same, "continue")
	}
	same = append(same, "go")
	orphan := ask("")
	orphan.Items = []threading.Item{{Role: threading.Tool, Kind: threading.Result, Text: "r", ID: "x"},
		{Role: threading.Tool, Kind: threading.Result, Text: "r", ID: "x"}, {Role: threading.Assistant, Kind: threading.Call}}
	onlySystem := ask("s")
	onlySystem.Items = []threading.Item{{Role: threading.System, Kind: threading.Text, Text: "Be kind"}}
	opaque := ask("")
	opaque.Items = []threading.Item{{}, {Kind: threading.Opaque, Text: "x"},
		{Role: threading.Assistant, Kind: threading.Image}}
	for i, r := range []*threading.Request{ask("", same...), orphan, onlySystem, opaque, ask(""), ask("s")} {
		for range 2 {
			m := d.turn(r, "Well", noon.Add(time.Duration(i)*time.Hour))
			if m.Thread == "" {
				t.Errorf("request %d is in no thread", i)
			}
		}
	}
	more := ask("", append(same, "Well", "more")...)
	if _, err := d.matcher.Match(context.Background(), d.scope, more, noon.Add(30*time.Hour)); err != nil {
		t.Error(err)
	}
}

// A history that we never answered is stored whole, and its last turn is told from what went before.
func TestAdoptedHistory(t *testing.T) {
	d := newDesk(t)
	m := d.turn(ask("s", "One", "Two", "Three", "Four", "Five"), "Six", noon)
	if m.Course != threading.Begins || len(m.New) != 5 || m.Adopted != 4 || m.Purpose != threading.Turn {
		t.Errorf("it %s with %d new atoms, %d of them adopted", m.Course, len(m.New), m.Adopted)
	}
}

// Examples that a program puts before each prompt are no evidence: what was said there was not answered by us.
func TestExamplesBeforeThePrompt(t *testing.T) {
	d := newDesk(t)
	examples := []string{"Two and two?", "That is four, of course.", "Three and three?", "That is six, of course."}
	seen := map[threading.ThreadID]bool{}
	for i, name := range []string{"", "", "a", "b"} {
		at := noon.Add(time.Duration(i) * time.Hour)
		prompt := fmt.Sprintf("And %d and one?", i)
		m := d.turn(ask(name, append(slices.Clone(examples), prompt)...), "Add them.", at)
		want(t, m, threading.Turn, threading.Begins)
		next := d.turn(ask(name, append(slices.Clone(examples), prompt, "Add them.", "How?")...), "Like this.", at)
		want(t, next, threading.Turn, threading.Continues)
		if seen[m.Thread] || next.Thread != m.Thread {
			t.Errorf("%q: %s goes on in %s", prompt, m.Thread, next.Thread)
		}
		seen[m.Thread] = true
	}
	failing := ask("", append(slices.Clone(examples), "And none?")...)
	m := d.begin(failing, noon)
	d.finish(m, threading.Answer{State: threading.Failed}, noon)
	want(t, d.begin(failing, noon.Add(time.Hour)), threading.Retry, threading.Continues)
}

// Conversations that share the key of a cache are told apart by what was said, and none goes on with another.
func TestKeyOfACache(t *testing.T) {
	d := newDesk(t)
	shared := func(texts ...string) *threading.Request {
		r := ask("cache:app", texts...)
		r.Weak = true
		return r
	}
	one := d.turn(shared("One"), "Answer one, which is long", noon)
	two := d.turn(shared("Two"), "Answer two, which is long", noon)
	three := d.turn(shared("Zero", "Never answered by us", "Three"), "Answer three, which is long", noon)
	again := d.turn(shared("One", "Answer one, which is long", "More"), "Of one", noon)
	if two.Thread == one.Thread || three.Thread == one.Thread || three.Thread == two.Thread || again.Thread != one.Thread {
		t.Errorf("threads %s, %s, %s and %s", one.Thread, two.Thread, three.Thread, again.Thread)
	}
	moved := shared("Two", "Answer two, which is long", "More")
	moved.Name = "cache:other"
	if o := d.turn(moved, "Of two", noon); o.Thread != two.Thread || o.Fork != "" {
		t.Errorf("under another key it %s in %s", o.Course, o.Thread)
	}
}

// The end of a conversation is where items without a history are added; what failed may be said again.
func TestConversationAtTheFace(t *testing.T) {
	d := newDesk(t)
	say := func(text string) *threading.Request {
		r := ask("", text)
		r.Conversation = "conv_1"
		return r
	}
	first := d.turn(say("One"), "Two", noon)
	second := d.begin(say("Three"), noon)
	d.finish(second, threading.Answer{State: threading.Failed}, noon)
	again := d.turn(say("Three"), "Four", noon.Add(time.Hour))
	third := d.turn(say("Five"), "Six", noon.Add(2*time.Hour))
	path := d.memory.Path(d.memory.Tip(third))
	if again.Purpose != threading.Retry || third.Thread != first.Thread || len(path) != 6 {
		t.Errorf("it is a %s, and the path has %d atoms", again.Purpose, len(path))
	}
}

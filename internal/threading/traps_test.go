package threading_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// flows returns the outcomes of the flows of a client whose names begin with one of some words.
func flows(t *testing.T, outcomes []outcome, names ...string) []outcome {
	t.Helper()
	var out []outcome
	for _, name := range names {
		before := len(out)
		for _, o := range outcomes {
			if strings.HasPrefix(o.Flow, name) {
				out = append(out, o)
			}
		}
		if len(out) == before {
			t.Fatalf("there is no flow %s", name)
		}
	}
	return out
}

// threadsOf returns how many turns went to each thread.
func threadsOf(outcomes []outcome) map[threading.ThreadID]int {
	out := map[threading.ThreadID]int{}
	for _, o := range outcomes {
		if o.match.Side == "" {
			out[o.match.Thread]++
		}
	}
	return out
}

// both runs a test with the clients' ids and without.
func both(t *testing.T, client string, test func(t *testing.T, d *desk, outcomes []outcome, hidden bool)) {
	requests := readRecordings(t)[client]
	if len(requests) == 0 {
		t.Fatalf("there is no recording of %s", client)
	}
	for _, hidden := range []bool{false, true} {
		t.Run(fmt.Sprintf("%s, hidden %v", client, hidden), func(t *testing.T) {
			d, outcomes := replay(t, requests, hidden, nil)
			test(t, d, outcomes, hidden)
		})
	}
}

// A sub-agent comes with its parent's cache key and its whole history, a review with its key: both are conversations of
// their own, the parent of which is known, and the parent's path stays what it was.
func TestSubagentUnderItsParentsKey(t *testing.T) {
	both(t, "codex-0.171.0", func(t *testing.T, d *desk, outcomes []outcome, hidden bool) {
		for flow, children := range map[string]int{"08-subagent": 1, "09-review": 1} {
			of := flows(t, outcomes, flow)
			threads := threadsOf(of)
			if want := 1 + children; !hidden && len(threads) != want {
				t.Errorf("%s is %d conversations, not %d", flow, len(threads), want)
			}
			main := of[0].match.Thread
			for _, o := range of {
				if !hidden && o.match.Side == "" && o.match.Thread != main && o.match.Course != threading.Continues &&
					o.match.Parent == "" && o.match.Fork == "" {
					t.Errorf("%s #%d: the parent of %s is not known", flow, o.Number, o.match.Thread)
				}
			}
			// The newest request of the parent goes on behind the ones before it.
			var before []threading.AtomRow
			for _, o := range of {
				if o.match.Side != "" || o.Conversation != of[0].Conversation {
					continue
				}
				path := d.memory.Path(o.end)
				if len(path) < len(before) || !samePath(path[:len(before)], before) {
					t.Errorf("%s #%d: the parent's path has changed", flow, o.Number)
				}
				before = path
			}
		}
	})
}

func samePath(a, b []threading.AtomRow) bool {
	return slices.EqualFunc(a, b, func(a, b threading.AtomRow) bool { return a.Place == b.Place })
}

// A side call that carries the whole history leaves nothing on a path.
func TestSideCallWithTheWholeHistory(t *testing.T) {
	for client, names := range map[string][]string{
		"qwen-code-0.24.4": {"03-tui", "04", "05", "06"}, "claude-code-2.1.332": {"20"}, "gemini-cli-0.61.0": {"04"},
	} {
		both(t, client, func(t *testing.T, d *desk, outcomes []outcome, _ bool) {
			for _, o := range flows(t, outcomes, names...) {
				if o.Side && len(o.match.New) > 0 {
					t.Errorf("%s #%d stores something", o.Flow, o.Number)
				}
			}
			for _, a := range d.memory.Atoms() {
				said := d.said[a.Key]
				for _, words := range []string{"memory extraction subagent", "SUGGESTION MODE", "Task Routing", "This is a side question"} {
					if strings.Contains(said, words) {
						t.Errorf("%q is on a path", words)
					}
				}
			}
		})
	}
}

// Over a WebSocket Codex warms up, then goes on from that with its whole history.
func TestWarmUpWithTheWholeHistory(t *testing.T) {
	both(t, "codex-0.171.0", func(t *testing.T, d *desk, outcomes []outcome, _ bool) {
		found := false
		for i, o := range outcomes {
			if o.Flow != "2oai-resume" || o.match.Side != "" || o.request.Chain == "" ||
				outcomes[i-1].match.Purpose != threading.WarmUp {
				continue
			}
			found = true
			if len(o.match.New) != 1 || o.match.Sent < 4 {
				t.Errorf("#%d: %d atoms are new, %d are known", o.Number, len(o.match.New), o.match.Sent)
			}
		}
		if !found {
			t.Fatal("no warm-up was found")
		}
	})
}

// A client's compaction is found once; its summary is stored once, and what follows goes on behind it.
func TestClientCompaction(t *testing.T) {
	found := 0
	items := 0
	for client := range readRecordings(t) {
		both(t, client, func(t *testing.T, d *desk, outcomes []outcome, hidden bool) {
			for i, o := range outcomes {
				if o.match.Course != threading.Compacted {
					continue
				}
				if !hidden {
					found++
				}
				if !o.match.Less || o.match.Compaction == nil || o.match.Compaction.Request == "" {
					t.Errorf("%s #%d: %+v", o.Flow, o.Number, o.match.Compaction)
				}
				quote := o.match.New[slices.IndexFunc(o.match.New, func(a threading.Atom) bool {
					return a.First == o.match.Compaction.Quoted
				})]
				if quote.Kind == threading.Compaction {
					items++
				}
				times := 0
				for _, a := range d.memory.Atoms() {
					if a.Thread == o.match.Thread && a.Key == quote.Key {
						times++
					}
				}
				if times != 1 {
					t.Errorf("%s #%d: the summary is stored %d times", o.Flow, o.Number, times)
				}
				for _, next := range outcomes[i+1:] {
					if next.match.Side != "" || next.Conversation != o.Conversation {
						continue
					}
					if next.match.Thread != o.match.Thread {
						t.Errorf("%s #%d does not go on with %s", next.Flow, next.Number, o.match.Thread)
					}
					break
				}
			}
		})
	}
	if found < 20 || items < 2 {
		t.Errorf("%d compactions were found, %d of them by an item of ours", found, items)
	}
}

// A client that rewrites what the model said, or shows the beginning of an interrupted answer, adds nothing.
func TestClientRewritesTheModel(t *testing.T) {
	for client, names := range map[string][]string{
		"claude-code-2.1.332": {"02", "12"}, "opencode-1.18.33": {"02"},
	} {
		both(t, client, func(t *testing.T, _ *desk, outcomes []outcome, _ bool) {
			of := flows(t, outcomes, names...)
			for _, o := range of {
				for _, a := range o.match.New {
					if a.Role == threading.Assistant {
						t.Errorf("%s #%d stores the model's %s %.60q", o.Flow, o.Number, a.Kind, a.Text)
					}
				}
			}
		})
	}
}

// A resume that sends results twice, or another date, is the same conversation with nothing twice.
func TestResumeThatLies(t *testing.T) {
	for client, name := range map[string]string{
		"gemini-cli-0.61.0": "03", "qwen-code-0.24.4": "02", "copilot-cli-1.0.102": "03",
	} {
		both(t, client, func(t *testing.T, _ *desk, outcomes []outcome, _ bool) {
			of := flows(t, outcomes, name)
			for _, o := range of {
				if o.match.Side == "" && len(o.match.New) > 2 {
					t.Errorf("%s #%d stores %d atoms", o.Flow, o.Number, len(o.match.New))
				}
			}
		})
	}
}

// Each request of a recording comes again and again, with an answer that is cut or missing each time but the last.
func TestRetryStorm(t *testing.T) {
	for client, times := range map[string]int{"codex-0.171.0": 6, "claude-code-2.1.332": 11, "opencode-1.18.33": 6} {
		for _, state := range []threading.State{threading.Failed, threading.Interrupted} {
			for _, hidden := range testlength.Choose([]bool{true}, []bool{false, true}, []bool{false, true}) {
				d := newDesk(t)
				calm := newDesk(t)
				var outcomes []outcome
				for _, r := range readRecordings(t)[client] {
					at := time.UnixMilli(r.Time)
					answer := r.answer(t)
					o := outcome{recorded: r, request: r.read(t, r.Request, hidden)}
					calm.finish(calm.begin(o.request, at), answer, at)
					for i := range times - 1 {
						at = at.Add(10 * time.Second)
						m := d.begin(o.request, at)
						broken := threading.Answer{State: state}
						if state == threading.Interrupted && len(answer.Items) > 0 {
							first := answer.Items[0]
							if first.Kind == threading.Text {
								first.Text = first.Text[:min(len(first.Text), 9+i)]
								broken.Items = []threading.Item{first}
							}
						}
						d.finish(m, broken, at)
					}
					at = at.Add(time.Minute)
					o.match = d.begin(o.request, at)
					d.finish(o.match, answer, at)
					o.end = d.memory.End(o.match)
					outcomes = append(outcomes, o)
				}
				r := judge(client, d, outcomes)
				if r.wrong+r.sidesAsTurns+r.turnsAsSides+r.twice+r.lost > 0 {
					t.Errorf("%s, %s, hidden %v: %+v", client, state, hidden, r.complaints)
				}
				if state == threading.Failed && len(d.memory.Atoms()) != len(calm.memory.Atoms()) {
					t.Errorf("%s, hidden %v: %d atoms with failures, %d without", client, hidden, len(d.memory.Atoms()),
						len(calm.memory.Atoms()))
				}
			}
		}
	}
}

// An edited past is a branch, and nothing of it is copied; equal first prompts are conversations of their own.
func TestEditedPastAndEqualPrompts(t *testing.T) {
	both(t, "codex-0.171.0", func(t *testing.T, _ *desk, outcomes []outcome, hidden bool) {
		branches := 0
		for _, o := range flows(t, outcomes, "05-revert", "06-fork") {
			if o.match.Course == threading.Branches || o.match.Course == threading.Forks {
				branches++
				if len(o.match.New) > 1 {
					t.Errorf("%s #%d stores %d atoms", o.Flow, o.Number, len(o.match.New))
				}
			}
			if o.match.Course == threading.Forks && hidden {
				t.Errorf("%s #%d is a fork without a name", o.Flow, o.Number)
			}
		}
		if branches < 2 {
			t.Errorf("%d branches and forks were found", branches)
		}
	})
	both(t, "pi-1.5.2", func(t *testing.T, _ *desk, outcomes []outcome, _ bool) {
		first := map[string]threading.ThreadID{}
		for _, o := range outcomes {
			if before, _, _ := strings.Cut(o.Flow, "-"); o.match.Side == "" && first[before] == "" {
				first[before] = o.match.Thread
			}
		}
		if n := len(slices.Compact(slices.Sorted(maps.Values(first)))); n != len(first) || n < 4 {
			t.Errorf("%d sessions are %d conversations", len(first), n)
		}
	})
}

// A thread at Anthropic goes on with the new message alone.
func TestThreadAtAnthropic(t *testing.T) {
	both(t, "anthropic-sdk-1.14.0", func(t *testing.T, d *desk, outcomes []outcome, _ bool) {
		chained := 0
		for _, o := range flows(t, outcomes, "thread-ok") {
			if o.request.Chain == "" {
				continue
			}
			chained++
			if o.match.Course != threading.Chained || o.match.Purpose != threading.ToolStep {
				t.Errorf("#%d is a %s, %s", o.Number, o.match.Purpose, o.match.Course)
			}
			if path := d.memory.Path(o.end); len(path) < 3 || path[0].Role != threading.User {
				t.Errorf("#%d: the path has %d atoms", o.Number, len(path))
			}
		}
		if chained == 0 {
			t.Error("nothing is chained")
		}
	})
}

// Without the words of the table a side call is clutter, and no turn is lost.
func TestWithoutSignatures(t *testing.T) {
	table, err := threading.ReadTable([]byte("[context]\ntags = [\"system-reminder\", \"environment_context\"]\n" +
		"inside = [\"system-reminder\"]\n[declared]\nturns = [\"codex:turn\"]\nsides = [\"codex:*\"]\n" +
		"summaries = [\"codex:compaction\"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, hidden := range []bool{false, true} {
		var right, turns, lost int
		for client, requests := range readRecordings(t) {
			d := newDesk(t)
			d.matcher.Table = table
			r := judge(client, d, d.replay(requests, hidden, nil))
			right += r.right
			turns += r.right + r.wrong + r.turnsAsSides
			lost += r.lost
		}
		t.Logf("hidden %v: %d of %d turns right, %d lost", hidden, right, turns, lost)
		if lost > 0 || right*100 < turns*98 {
			t.Errorf("hidden %v: %d of %d turns are right, %d are lost", hidden, right, turns, lost)
		}
	}
}

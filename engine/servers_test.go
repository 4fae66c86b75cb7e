package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/store/drivertest/oracle"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/all"
)

// small is the window of a server in tokens, which nobody is told of beforehand.
const small = 4096

// Fourteen rounds with servers of one small window, each of which says in its own
// words that a request is too long, or how long it may be: every round ends well,
// little is refused, and who comes later over the same data is refused nothing.
func TestSmallLocalServers(t *testing.T) {
	testlength.SkipShort(t)
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "server\tcalls\trefused\tof them too long\tlost without learning\tcalls saved")
	for i, preset := range all.ProviderNames() {
		if i%3 != 0 && testlength.Choose(true, false, false) {
			continue
		}
		env := map[string]string{}
		d := oracle.New()
		s := serve(t, preset, small, env)
		s.says.words = 240
		r := enginetest.New(t, enginetest.Options{Driver: d, Models: finds(env), NoFolds: true})
		c, _, err := r.Create(context.Background(), scrollback.Conversation{Model: s.name, Instructions: "Be brief."})
		if err != nil {
			t.Fatal(err)
		}
		lost := 0
		for i := range 14 {
			ended(r, engine.TurnRequest{Conversation: c.ID, Message: round(i)})
			if outgrown(r, c.ID) {
				lost++
			}
		}
		calls := len(s.line.asked())
		refused := len(s.server.Refusals())
		long := 0
		for _, why := range s.server.Refusals() {
			if strings.HasPrefix(why.Rule, "too") {
				long++
			}
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\n", preset, calls, refused, long, lost, lost-long)
		if refused > 4 || lost < 5 || calls < 14 {
			t.Errorf("%s refused %d of %d calls, where %d would be lost: %+v", preset, refused, calls, lost, s.server.Refusals())
		}
		later := enginetest.New(t, enginetest.Options{Driver: d, Models: finds(env), Clock: r.Clock})
		for i := range 3 {
			ended(later, engine.TurnRequest{Conversation: c.ID, Message: round(14 + i)})
		}
		for _, why := range s.server.Refusals()[refused:] {
			if why.Rule != "bound" { // which need not have come up before
				t.Errorf("%s refused a call of who came later: %+v", preset, why)
			}
		}
	}
	_ = w.Flush() // into a text
	t.Log("\n" + table.String())
}

func round(i int) scrollback.Parts {
	return enginetest.Say(fmt.Sprintf("Round %d: ", i) +
		strings.Repeat(fmt.Sprintf("and what of the crane %d in the harbour? ", i), 24))
}

// outgrown reports whether the whole of a conversation, sent as it is, is over the
// small window by what the servers count: four bytes a token, tools left out.
func outgrown(r *enginetest.Rig, id scrollback.ConversationID) bool {
	r.T.Helper()
	n := 0
	log := r.Log(id)
	for _, m := range log[:len(log)-1] { // the last is the answer
		n += len(m.Parts.Text())
	}
	return n/4 > small
}

// plight is what goes wrong with one turn, and how that ends.
type plight struct {
	name  string
	wrong func(s *served, env map[string]string, key string)
	model string // that is asked for; empty for the right one
	long  bool   // the answer goes on beyond its bound

	state  scrollback.TurnState
	reason string
	code   scrollback.Code // of what is told; empty where nothing is
}

// cutAfter is enough pieces that an answer has begun, and not ended.
const cutAfter = 14

var plights = []plight{
	{name: "wrong key", wrong: func(_ *served, env map[string]string,
		key string) {
		env[key] = "sk-wrong-0123456789abcdef"
	},
		state: scrollback.TurnFailed, code: scrollback.Refused},
	{name: "unknown model", model: "gone-5", state: scrollback.TurnFailed, code: scrollback.Invalid},
	{name: "server gone", wrong: func(s *served, _ map[string]string, _ string) { s.line.end("gone", cutAfter) },
		state: scrollback.TurnFailed,
		code:  scrollback.Unavailable},
	{name: "no end", wrong: func(s *served, _ map[string]string, _ string) { s.line.end("open", cutAfter) },
		state:  scrollback.TurnInterrupted,
		reason: scrollback.FinishTruncated},
	{name: "beyond a bound", long: true, state: scrollback.TurnInterrupted, reason: scrollback.FinishBound,
		code: scrollback.Unavailable},
}

// Whatever goes wrong with a server, the turn ends, says so in words of ours, and the
// conversation goes on with the next one.
func TestRefusalsKeepNothingOpen(t *testing.T) {
	for _, p := range all.Providers() {
		t.Run(p.Name, func(t *testing.T) {
			env := map[string]string{}
			s := serve(t, p.Name, 1<<20, env)
			r := enginetest.New(t, enginetest.Options{Models: finds(env), Bounds: model.Bounds{Chars: 3000}})
			c, _, err := r.Create(context.Background(), scrollback.Conversation{Model: s.name, Limit: 100_000})
			if err != nil {
				t.Fatal(err)
			}
			for i, bad := range plights {
				if bad.wrong != nil {
					bad.wrong(s, env, p.Key)
				}
				req := engine.TurnRequest{Conversation: c.ID, Message: enginetest.Say(fmt.Sprintf("Question %d?", i))}
				if bad.model != "" {
					req.Overrides.Model = p.Name + "/" + bad.model
				}
				if s.says.words = 120; bad.long {
					s.says.words = 1200
				}
				e := r.Run(req)
				plainly(t, e, bad, s)
				s.line.end("", 0)
				env[p.Key] = theKey
				s.says.words = 60
				ended(r, engine.TurnRequest{Conversation: c.ID, Message: enginetest.Say("And now?")})
				if turn, err := r.Turns().Running(context.Background(), c.ID); err != nil || turn != nil {
					t.Fatalf("%s left %+v, %v", bad.name, turn, err)
				}
			}
		})
	}
}

// plainly holds the end of a turn that went wrong against what it should be, and its
// events against what nobody should read. The server's words stand in the cause alone.
func plainly(t *testing.T, e enginetest.Outcome, bad plight, s *served) {
	t.Helper()
	d, _ := enginetest.Last[scrollback.DoneEvent](e)
	f, told := enginetest.Last[scrollback.ErrorEvent](e)
	if e.Err != nil || d.Status != bad.state || d.FinishReason != bad.reason || f.Code != bad.code ||
		told != (bad.code != "") ||
		told && len(f.Message) < 20 {
		t.Errorf("%s: it ended %+v (%v), told %+v", bad.name, d, e.Err, f)
	}
	if refuses := bad.code != scrollback.Unavailable && told; refuses != (f.Cause != "") ||
		told && f.Advice == "" && bad.reason == "" {
		t.Errorf("%s: told %+v, which lacks a cause or an advice, or has one too many", bad.name, f)
	}
	text, err := json.Marshal(e.Events)
	if err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(f.Cause)
	if err != nil {
		t.Fatal(err)
	}
	own := strings.Replace(string(text), string(quoted), "", 1)
	secret := []string{theKey, "sk-wrong", "127.0.0.1", "http:", "0123456789", http.ErrAbortHandler.Error(), "EOF"}
	for _, words := range secret {
		if strings.Contains(string(text), words) {
			t.Errorf("%s: the events tell %q: %s", bad.name, words, text)
		}
	}
	var theirs []string
	for _, why := range s.server.Refusals() {
		theirs = append(theirs, slices.DeleteFunc(strings.FieldsFunc(why.Words,
			func(r rune) bool { return strings.ContainsRune(".,:;'\"()`", r) }),
			func(words string) bool { return len(words) < 14 })...)
	}
	for _, words := range theirs {
		if strings.Contains(own, words) {
			t.Errorf("%s: beside the cause the events tell %q: %s", bad.name, words, text)
		}
	}
}

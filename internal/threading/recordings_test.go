package threading_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/internal/threading"
	"github.com/scrollback-ai/scrollback/internal/threading/dialect"
)

// recorded is a request of a recording, with what it was answered and what it is.
type recorded struct {
	Number  int               `json:"n"`
	Time    int64             `json:"t"`
	Flow    string            `json:"flow"`
	Dialect threading.Dialect `json:"dialect"`
	Headers map[string]string `json:"headers"`
	Request json.RawMessage   `json:"request"`
	Answer  struct {
		ID    string          `json:"id"`
		State threading.State `json:"state"`
		Items []struct {
			Kind threading.Kind  `json:"kind"`
			Name string          `json:"name"`
			Text string          `json:"text"`
			ID   string          `json:"id"`
			Item json.RawMessage `json:"item"`
		} `json:"items"`
	} `json:"answer"`
	Side         bool   `json:"side"`
	Conversation string `json:"conversation"`
	Family       string `json:"family"`
}

// readRecordings returns the requests of each client in their order.
func readRecordings(t testing.TB) map[string][]recorded {
	t.Helper()
	out, err := unpacked()
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 18 {
		t.Fatalf("there are recordings of %d clients", len(out))
	}
	return out
}

var unpacked = sync.OnceValues(func() (map[string][]recorded, error) {
	files, err := filepath.Glob(filepath.FromSlash("testdata/recordings/*.ndjson.gz"))
	if err != nil {
		return nil, err
	}
	out := map[string][]recorded{}
	for _, name := range files {
		requests, err := unpack(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[strings.TrimSuffix(filepath.Base(name), ".ndjson.gz")] = requests
	}
	return out, nil
})

func unpack(name string) ([]recorded, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	var out []recorded
	lines := json.NewDecoder(text)
	for lines.More() {
		var r recorded
		if err := lines.Decode(&r); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// read decodes a recorded request; hidden takes everything away that names the conversation or the purpose.
func (r recorded) read(t testing.TB, body []byte, hidden bool) *threading.Request {
	t.Helper()
	request, err := dialect.Read(r.Dialect, func(name string) string { return r.Headers[name] }, body)
	if err != nil {
		t.Fatalf("%s #%d: %v", r.Flow, r.Number, err)
	}
	if hidden {
		request.Name = ""
		request.Parent = ""
		request.Declared = ""
	}
	return request
}

func (r recorded) answer(t testing.TB) threading.Answer {
	t.Helper()
	out := threading.Answer{ID: r.Answer.ID, State: r.Answer.State, Delivered: r.Answer.State == threading.Finished}
	for _, item := range r.Answer.Items {
		if item.Kind == threading.Compaction {
			body := fmt.Sprintf(`{"input":[%s]}`, item.Item)
			read, err := dialect.Read(threading.Responses, func(string) string { return "" }, []byte(body))
			if err != nil {
				t.Fatal(err)
			}
			out.Items = append(out.Items, read.Items...)
			continue
		}
		out.Items = append(out.Items, threading.Item{Role: threading.Assistant, Kind: item.Kind, Name: item.Name,
			Text: item.Text, ID: item.ID})
	}
	return out
}

// desk threads requests with an index in memory.
type desk struct {
	t       testing.TB
	memory  *threading.Memory
	matcher *threading.Matcher
	scope   threading.Scope
	ids     int
	said    map[threading.Hash]string // what the atoms say, by key
}

func newDesk(t testing.TB) *desk {
	memory := threading.NewMemory()
	scope := threading.Scope{Project: "p", Caller: "c"}
	return &desk{t: t, memory: memory, said: map[threading.Hash]string{}, scope: scope,
		matcher: &threading.Matcher{Index: memory, Table: threading.BuiltInTable()}}
}

func (d *desk) id(kind string) string {
	d.ids++
	return fmt.Sprintf("%s%d", kind, d.ids)
}

func (d *desk) branch() threading.BranchID { return threading.BranchID(d.id("b")) }

// write stores rows.
func (d *desk) write(rows threading.Rows) {
	d.t.Helper()
	if err := d.memory.Write(rows); err != nil {
		d.t.Fatal(err)
	}
}

// begin matches a request and stores its beginning.
func (d *desk) begin(r *threading.Request, at time.Time) *threading.Match {
	d.t.Helper()
	match, err := d.matcher.Match(context.Background(), d.scope, r, at)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, a := range match.New {
		d.said[a.Key] = a.Text
	}
	d.memory.Ask(match, at)
	d.write(match.Begin(threading.IDs{Thread: threading.ThreadID(d.id("t")),
		Request: threading.RequestID(d.id("r")), Branch: d.branch}))
	return match
}

// finish stores the answer to a match.
func (d *desk) finish(match *threading.Match, answer threading.Answer, at time.Time) {
	d.t.Helper()
	rows, err := d.matcher.Finish(context.Background(), match, answer, at, d.branch)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, a := range d.matcher.Atoms(&threading.Request{Items: answer.Items}) {
		d.said[a.Key] = a.Text
	}
	d.write(rows)
}

// outcome is what became of a recorded request.
type outcome struct {
	recorded
	request *threading.Request
	match   *threading.Match
	end     threading.Place
	tip     threading.Place
}

// replay threads all requests of a client; change may alter each body before it is read.
func replay(t testing.TB, requests []recorded, hidden bool, change func(recorded) []byte) (*desk, []outcome) {
	t.Helper()
	d := newDesk(t)
	return d, d.replay(requests, hidden, change)
}

func (d *desk) replay(requests []recorded, hidden bool, change func(recorded) []byte) []outcome {
	d.t.Helper()
	var out []outcome
	for _, r := range requests {
		body := []byte(r.Request)
		if change != nil {
			body = change(r)
		}
		request := r.read(d.t, body, hidden)
		at := time.UnixMilli(r.Time)
		o := outcome{recorded: r, request: request, match: d.begin(request, at)}
		o.end = d.memory.End(o.match)
		d.finish(o.match, r.answer(d.t), at)
		o.tip = d.memory.End(o.match)
		out = append(out, o)
	}
	return out
}

// result counts what came out of a client's recordings.
type result struct {
	requests, right, wrong, sides, sidesAsTurns, turnsAsSides, atoms, twice, lost, offPath, otherTurns int
	complaints                                                                                         []string
}

func (r *result) complain(client string, o outcome, format string, args ...any) {
	r.complaints = append(r.complaints, fmt.Sprintf("%s %s #%d (%s, %s): ", client, o.Flow, o.Number, o.match.Purpose,
		o.match.Course)+fmt.Sprintf(format, args...))
}

var (
	marker     = regexp.MustCompile(`Marker [A-Z]+-\w+`)
	answerMark = regexp.MustCompile(`^Answer [0-9a-f]{6}`)
)

// judge compares outcomes with what the recordings are known to be.
func judge(client string, d *desk, outcomes []outcome) *result {
	out := &result{requests: len(outcomes)}
	into := map[string]map[threading.ThreadID]int{}
	from := map[threading.ThreadID]map[string]int{}
	family := map[string]string{}
	for _, o := range outcomes {
		if o.Side {
			continue
		}
		if _, ok := family[o.Conversation]; !ok {
			family[o.Conversation] = o.Family
		}
		if o.match.Side != "" {
			continue
		}
		if into[o.Conversation] == nil {
			into[o.Conversation] = map[threading.ThreadID]int{}
		}
		into[o.Conversation][o.match.Thread]++
		if from[o.match.Thread] == nil {
			from[o.match.Thread] = map[string]int{}
		}
		from[o.match.Thread][o.Conversation]++
	}
	for _, o := range outcomes {
		switch {
		case o.Side && o.match.Side != "":
			out.sides++
		case o.Side:
			out.sidesAsTurns++
			out.complain(client, o, "a side call was stored as a turn")
		case o.match.Side != "":
			out.turnsAsSides++
			out.complain(client, o, "a turn was taken for a side call: %s", o.match.Side)
		default:
			main := most(into[o.Conversation])
			owner := most(from[o.match.Thread])
			same := o.Family != "" && o.Family == family[owner] && o.match.Sent > 0
			switch {
			case o.match.Thread != main:
				out.wrong++
				out.complain(client, o, "%s is in %s, this went to %s", o.Conversation, main, o.match.Thread)
			case owner != o.Conversation && !same:
				out.wrong++
				out.complain(client, o, "%s is of %s, not of %s", o.match.Thread, owner, o.Conversation)
			default:
				out.right++
			}
		}
	}
	out.countStored(client, d, outcomes)
	return out
}

// most returns the key that was counted most often.
func most[K ~string](counts map[K]int) K {
	var best K
	for k, n := range counts {
		if n > counts[best] || n == counts[best] && k < best {
			best = k
		}
	}
	return best
}

// countStored counts what is stored twice, what is lost, and what paths lack or have too much.
func (r *result) countStored(client string, d *desk, outcomes []outcome) {
	seen := map[string]int{}
	have := map[string]bool{}
	for _, a := range d.memory.Atoms() {
		r.atoms++
		said := d.said[a.Key]
		if a.Role == threading.User {
			for _, m := range marker.FindAllString(said, -1) {
				have[m] = true
			}
		}
		if a.Partial {
			continue
		}
		key := ""
		switch {
		case a.Call != (threading.Hash{}):
			key = a.Call.String()
		case a.Kind == threading.Text && len(said) < 400 && a.Role == threading.User:
			if m := marker.FindAllString(said, -1); len(m) == 1 {
				key = "user " + m[0]
			}
		case a.Kind == threading.Text && len(said) < 400:
			if m := answerMark.FindString(said); m != "" {
				key = "assistant " + m
			}
		}
		if key != "" {
			key = string(a.Thread) + " " + key
			seen[key]++
			if seen[key] == 2 {
				r.twice++
				r.complaints = append(r.complaints, client+": stored twice: "+key)
			}
		}
	}
	compacted := map[threading.ThreadID]bool{}
	for _, o := range outcomes {
		if o.Side || o.match.Side != "" || o.match.Purpose == threading.Replay {
			continue
		}
		var sent []string
		for _, item := range o.request.Items {
			if item.Role == threading.User && item.Kind == threading.Text && len(item.Text) < 400 &&
				!strings.HasPrefix(strings.TrimSpace(item.Text), "<") {
				sent = append(sent, marker.FindAllString(item.Text, -1)...)
			}
		}
		for _, m := range sent {
			if !have[m] {
				r.lost++
				have[m] = true
				r.complain(client, o, "%s is lost", m)
			}
		}
		var turns []string
		on := map[threading.Hash]bool{}
		for _, a := range d.memory.Path(o.end) {
			on[a.Key] = true
			on[a.Call] = true
			if a.Role == threading.User && a.Kind == threading.Text {
				turns = append(turns, marker.FindAllString(d.said[a.Key], -1)...)
			}
		}
		for _, a := range d.matcher.Atoms(o.request) {
			if !on[a.Key] && (a.Call == (threading.Hash{}) || !on[a.Call]) && o.match.Course != threading.Chained &&
				!d.memory.Begins(o.end, a) {
				r.offPath++
				r.complain(client, o, "not on the path: %.60s", a.Text)
				break
			}
		}
		if o.match.Compaction != nil || o.match.Course == threading.Trimmed {
			compacted[o.match.Thread] = true
		}
		compacted[o.match.Thread] = compacted[o.match.Thread] || compacted[o.match.Fork]
		if !compacted[o.match.Thread] && o.match.Course != threading.Chained && !slices.Equal(turns, allMarkers(d, o)) {
			r.otherTurns++
			r.complain(client, o, "the path has %v, the request %v", last(turns, 4), last(allMarkers(d, o), 4))
		}
	}
}

func last(list []string, n int) []string { return list[max(0, len(list)-n):] }

// allMarkers returns the markers of a request's own user texts.
func allMarkers(d *desk, o outcome) []string {
	var out []string
	for _, a := range d.matcher.Atoms(o.request) {
		if a.Role == threading.User && a.Kind == threading.Text {
			out = append(out, marker.FindAllString(a.Text, -1)...)
		}
	}
	return out
}

// Every request of every recording goes to the right conversation, with the ids of the clients and without.
func TestRecordings(t *testing.T) {
	recordings := readRecordings(t)
	for _, hidden := range []bool{false, true} {
		name := map[bool]string{false: "ids", true: "no ids"}[hidden]
		t.Run(name, func(t *testing.T) {
			var total result
			for client, requests := range recordings {
				d, outcomes := replay(t, requests, hidden, nil)
				r := judge(client, d, outcomes)
				for _, c := range r.complaints {
					t.Log(c)
				}
				total.requests += r.requests
				total.right += r.right
				total.wrong += r.wrong
				total.sides += r.sides
				total.sidesAsTurns += r.sidesAsTurns
				total.turnsAsSides += r.turnsAsSides
				total.atoms += r.atoms
				total.twice += r.twice
				total.lost += r.lost
				total.offPath += r.offPath
				total.otherTurns += r.otherTurns
			}
			t.Logf("%d requests: %d right, %d wrong, %d side calls, %d side calls as turns, %d turns as side calls, "+
				"%d atoms, %d twice, %d lost, %d with an atom off the path, %d with other turns on it", total.requests,
				total.right, total.wrong, total.sides, total.sidesAsTurns, total.turnsAsSides, total.atoms, total.twice,
				total.lost, total.offPath, total.otherTurns)
			if total.wrong+total.sidesAsTurns+total.turnsAsSides+total.twice+total.lost+total.otherTurns > 0 {
				t.Error("not every request is where it belongs")
			}
			// Not even a summary that a client sends again after it went back behind its compaction.
			if total.offPath > 0 {
				t.Errorf("%d requests have an atom that is not on their path", total.offPath)
			}
		})
	}
}

// Ids that several conversations share, a cache key or a session with all its agents, lead no request astray.
func TestSharedIDs(t *testing.T) {
	for client, requests := range readRecordings(t) {
		var coarse []recorded
		for _, r := range requests {
			r.Headers = nil
			coarse = append(coarse, r)
		}
		d, outcomes := replay(t, coarse, false, func(r recorded) []byte {
			var fields map[string]json.RawMessage
			if err := json.Unmarshal(r.Request, &fields); err != nil {
				t.Fatal(err)
			}
			delete(fields, "client_metadata")
			out, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			return out
		})
		r := judge(client, d, outcomes)
		if r.wrong+r.sidesAsTurns+r.turnsAsSides+r.twice+r.lost > 0 {
			t.Errorf("%s: %d wrong, %d side calls as turns, %d turns as side calls, %d twice, %d lost", client, r.wrong,
				r.sidesAsTurns, r.turnsAsSides, r.twice, r.lost)
			for _, c := range r.complaints {
				t.Log(c)
			}
		}
	}
}

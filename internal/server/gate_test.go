package server_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// asksOfMCP says of each tool, prompt and other call of MCP whether it may ask a model, as asks in [probes] does of
// each operation of the API. What is new needs an entry: what asks has to be booked to the caller and to be refused
// once the caller's day is used up, and of what does not ask the tests hold that it asks nothing.
var asksOfMCP = map[string]bool{
	"mcp tool context_conversations": false, "mcp tool context_grep": false, "mcp tool context_kept": false,
	"mcp tool context_list":     false,
	"mcp tool context_messages": false, "mcp tool context_read": false, "mcp tool context_search": false,
	"mcp tool context_tail": false,

	"mcp prompt catch-up": false, "mcp prompt recall": false, "mcp prompt summarize": false,

	"mcp resource original": false, "mcp resources/list": false, "mcp completion/complete": false,
}

// mayAsk reports whether what has a name may ask a model, and whether anything says so.
func mayAsk(name string) (asks, known bool) {
	if p, ok := probes[name]; ok {
		return p.asks, true
	}
	asks, known = asksOfMCP[name]
	return asks, known
}

// spending is how operations are sent so that they ask models; all others are sent as [probes] say.
var spending = map[string]probe{
	"chat":    {body: `{"message":"and the lighthouse?","stream":false}`},
	"compact": {body: `{"force":true}`},
	"import":  {query: "project={project}&summarize=1&name=talk.jsonl", file: true},
}

// deed is something that a client may do.
type deed struct {
	name string
	do   func(of place, key string) *httptest.ResponseRecorder
}

// deeds returns all that clients may do: the operations of the description, and the calls of MCP as its server lists
// them.
func (m *matrix) deeds(key string) (all []deed) {
	m.T.Helper()
	for _, path := range slices.Sorted(maps.Keys(m.ops)) {
		for method, op := range m.ops[path] {
			s, ok := spending[op.OperationID]
			if !ok {
				s = probes[op.OperationID]
			}
			all = append(all, deed{op.OperationID, func(of place, key string) *httptest.ResponseRecorder {
				return m.try(method, path, s, of, key)
			}})
		}
	}
	add := func(name, method string, params func(of place) string) {
		all = append(all, deed{"mcp " + name, func(of place, key string) *httptest.ResponseRecorder {
			return m.mcp(method, params(of), key)
		}})
	}
	var listed struct {
		Result struct{ Tools, Prompts, ResourceTemplates []struct{ Name string } }
	}
	for _, list := range []string{"tools/list", "prompts/list", "resources/templates/list"} {
		if w := m.mcp(list, "{}", key); json.Unmarshal(w.Body.Bytes(), &listed) != nil {
			m.T.Fatalf("%s: %s", list, w.Body)
		}
	}
	for _, tool := range listed.Result.Tools {
		add("tool "+tool.Name, "tools/call", func(of place) string { return toolCall(tool.Name, of) })
	}
	for _, prompt := range listed.Result.Prompts {
		add("prompt "+prompt.Name, "prompts/get", func(of place) string {
			args := map[string]string{"recall": `"topic":"lighthouse"`, "summarize": `"conversation":"` + of["{id}"] + `"`}
			return fmt.Sprintf(`{"name":%q,"arguments":{%s}}`, prompt.Name, args[prompt.Name])
		})
	}
	for _, template := range listed.Result.ResourceTemplates {
		add("resource "+template.Name, "resources/read", resource)
	}
	add("resources/list", "resources/list", func(place) string { return "{}" })
	add("completion/complete", "completion/complete", func(place) string {
		return `{"ref":{"type":"ref/prompt","name":"summarize"},"argument":{"name":"conversation","value":""}}`
	})
	var names []string
	for _, d := range all {
		names = append(names, d.name)
		if _, known := mayAsk(d.name); !known {
			m.T.Errorf("nothing says whether %s may ask a model: write it into asksOfMCP", d.name)
		}
	}
	for name := range asksOfMCP {
		if !slices.Contains(names, name) {
			m.T.Errorf("%s is in asksOfMCP, and there is no such thing", name)
		}
	}
	return all
}

// spender returns a server whose model takes every kind of call: turns, titles, summaries and sub-agents.
func spender(t *testing.T) *matrix {
	step := modeltest.Step{Reply: func(q model.Request) []model.Delta {
		usage := &scrollback.Usage{InputTokens: 900, OutputTokens: 100, TotalTokens: 1000}
		end := model.Delta{Finish: scrollback.FinishStop, Usage: usage}
		delegated := 0
		wants := false
		for _, item := range q.Items {
			wants = wants || strings.Contains(item.Parts.Text(), "delegate")
			delegated += len(item.Parts.Calls())
		}
		if wants && delegated < 2 {
			call := scrollback.ToolCall{ID: fmt.Sprintf("c%d", delegated), Name: "agent",
				Arguments: json.RawMessage(`{"task":"look at the lighthouse"}`)}
			return []model.Delta{{Call: &call}, {Finish: scrollback.FinishToolCalls, Usage: usage}}
		}
		return []model.Delta{{Text: strings.Repeat("The light is white. ", 40)}, end}
	}}
	r := enginetest.New(t, enginetest.Options{Summaries: true, Titles: engine.TitlesModel, Limit: 4000, Policy: "snapshot",
		Agents: engine.AgentOptions{Allowed: true}}, step)
	m := &matrix{Rig: r, keys: map[string]string{}, ids: map[string]scrollback.KeyID{}}
	m.at = server.Handler(r.Engine, r.Transfer, server.Options{Version: "test", Keys: r.Store.Keys, Metrics: counting(t),
		Log: slog.New(slog.DiscardHandler), Rate: scrollback.Rate{Chats: scrollback.Unlimited}}, false)
	m.key("admin", scrollback.Key{Role: scrollback.AccessAdmin, Projects: []string{own}})
	m.key("read", scrollback.Key{Role: scrollback.AccessRead, Projects: []string{own}}) // that sign-in sends
	m.mine = m.place(own)
	w := m.send("GET", "/openapi.json", "", "admin", "")
	var api description
	if err := json.Unmarshal(w.Body.Bytes(), &api); err != nil || len(api.Paths) == 0 {
		t.Fatalf("the description: %v, %.200s", err, w.Body)
	}
	m.ops = api.Paths
	m.settle()
	return m
}

// key makes a key under a name, and returns its id.
func (m *matrix) key(name string, k scrollback.Key) scrollback.KeyID {
	m.T.Helper()
	k.Name = name
	made, secret, err := m.Store.Keys.Add(m.T.Context(), k)
	if err != nil {
		m.T.Fatal(err)
	}
	m.keys[name] = secret
	return made.ID
}

// settle waits for what runs beside.
func (m *matrix) settle() {
	m.T.Helper()
	if err := m.Engine.Settle(m.T.Context()); err != nil {
		m.T.Fatal(err)
	}
}

// booked returns the calls of models that are entered for a key.
func (m *matrix) booked(key scrollback.KeyID) int64 {
	m.T.Helper()
	sums, err := m.Usage(m.T.Context(), scrollback.UsageQuery{ByKey: true})
	if err != nil {
		m.T.Fatal(err)
	}
	var n int64
	for _, s := range sums {
		if s.Key == key {
			n += s.Calls
		}
	}
	return n
}

// fill adds to a conversation until there is something to compact.
func (m *matrix) fill(id scrollback.ConversationID) {
	m.T.Helper()
	for range 5 {
		m.Ask(id, strings.Repeat("What about the tide? ", 20)).WantDone(m.T, scrollback.TurnComplete, "stop")
	}
}

// long returns a transcript that does not fit a window.
func long() string {
	var b strings.Builder
	for i := range 900 {
		role := []string{"user", "assistant"}[i%2]
		fmt.Fprintf(&b, `{"role":%q,"content":%q}`+"\n", role,
			fmt.Sprintf("%d: ", i)+strings.Repeat("the tide at the lighthouse was low. ", 12))
	}
	return b.String()
}

// TestEveryCallIsBookedToWhoAsked does all that clients may do with a key. Each call of a model that comes of it is
// entered for that key, and what asks says asks none asks none.
func TestEveryCallIsBookedToWhoAsked(t *testing.T) {
	t.Parallel()
	m := spender(t)
	id := m.key("spends", scrollback.Key{Role: scrollback.AccessAdmin, Projects: []string{own}})
	for _, d := range m.deeds("spends") {
		mine := m.place(own)
		mine["{file}"] = long()
		if d.name == "compact" {
			m.fill(scrollback.ConversationID(mine["{id}"]))
		}
		m.settle()
		asked := int64(len(m.Script.Requests()))
		booked := m.booked(id)
		w := d.do(mine, "spends")
		m.settle()
		asked = int64(len(m.Script.Requests())) - asked
		booked = m.booked(id) - booked
		asks, _ := mayAsk(d.name)
		if asked != booked || asks != (asked > 0) {
			t.Errorf("%s asked %d times, and %d are booked to who asked: %d %.300s", d.name, asked, booked, w.Code, w.Body)
		}
		if refused := strings.Contains(w.Body.String(), `"isError":true`) || strings.HasPrefix(d.name, "mcp ") &&
			!strings.Contains(w.Body.String(), `"result":`); refused || w.Code >= 400 && !probes[d.name].whole {
			t.Errorf("%s was not done: %d %.300s", d.name, w.Code, w.Body) // and so proves nothing
		}
	}
}

// TestNothingIsAskedPastTheGate: once a key has used up its day, or the project has, nothing that it does asks a model.
func TestNothingIsAskedPastTheGate(t *testing.T) {
	t.Parallel()
	m := spender(t)
	admin, err := m.Admin()
	if err != nil {
		t.Fatal(err)
	}
	id := m.key("spent", scrollback.Key{Role: scrollback.AccessAdmin, Projects: []string{own}})
	mine := m.place(own)
	if w := m.try("post", "/api/conversations/{id}/chat", spending["chat"], mine, "spent"); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if err := admin.SetKeyLimits(t.Context(), id,
		scrollback.KeyLimits{SpendLimit: scrollback.SpendLimit{Tokens: 1}}); err != nil {
		t.Fatal(err)
	}
	m.settle()
	for _, d := range m.deeds("spent") {
		mine := m.place(own)
		mine["{file}"] = long()
		m.settle()
		asked := len(m.Script.Requests())
		w := d.do(mine, "spent")
		m.settle()
		if n := len(m.Script.Requests()) - asked; n > 0 {
			t.Errorf("%s asked %d times for a key that has used up its day: %d %.300s", d.name, n, w.Code, w.Body)
		}
		if asks, _ := mayAsk(d.name); asks && (w.Code != http.StatusTooManyRequests && w.Code < 400 ||
			!strings.Contains(w.Body.String(), "over_budget")) {
			t.Errorf("%s: %d %.300s", d.name, w.Code, w.Body)
		}
	}
}

// TestImportCountsWhatItAsks: each compaction of an import that asks a model is counted as a chat; when the rate is
// full the import goes on without asking, and says so; the next one is refused before anything is written.
func TestImportCountsWhatItAsks(t *testing.T) {
	m := spender(t)
	admin, err := m.Admin()
	if err != nil {
		t.Fatal(err)
	}
	id := m.key("slow", scrollback.Key{Role: scrollback.AccessWrite, Projects: []string{own}})
	hourly := scrollback.KeyLimits{Rate: scrollback.Rate{Chats: 1, PerMS: scrollback.DayMS / 24}}
	if err := admin.SetKeyLimits(t.Context(), id, hourly); err != nil {
		t.Fatal(err)
	}
	query := "/api/import?summarize=1&name=talk.jsonl&project=" + url.QueryEscape(own)
	before := len(m.Script.Requests())
	w := m.send("POST", query, long(), "slow", "")
	var out struct{ Asked engine.Asked }
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	asked := len(m.Script.Requests()) - before
	if asked == 0 || asked > 4 || out.Asked.Calls != asked || out.Asked.Held == 0 || m.booked(id) != int64(asked) {
		t.Errorf("%d calls, %d booked: %+v", asked, m.booked(id), out.Asked)
	}
	w = m.send("POST", query, strings.ReplaceAll(long(), "tide", "wind"), "slow", "")
	if w.Code != http.StatusTooManyRequests || len(m.Script.Requests()) != before+asked {
		t.Errorf("the second: %d %s", w.Code, w.Body)
	}
}

// TestSubagentsPassTheGate: what a sub-agent asks is booked to who asked its employer, and a day that the first
// sub-agent uses up lets no second one begin.
func TestSubagentsPassTheGate(t *testing.T) {
	for _, budget := range []int64{0, 500} {
		m := spender(t)
		admin, err := m.Admin()
		if err != nil {
			t.Fatal(err)
		}
		id := m.key("boss", scrollback.Key{Role: scrollback.AccessWrite, Projects: []string{own}})
		if err := admin.SetKeyLimits(t.Context(), id,
			scrollback.KeyLimits{SpendLimit: scrollback.SpendLimit{Tokens: budget}}); err != nil {
			t.Fatal(err)
		}
		c, _, err := m.Create(t.Context(), scrollback.Conversation{Project: own, Settings: scrollback.Settings{Agents: true}})
		if err != nil {
			t.Fatal(err)
		}
		before := len(m.Script.Requests())
		w := m.send("POST", "/api/conversations/"+string(c.ID)+"/chat", `{"message":"delegate","stream":false}`, "boss",
			"application/json")
		asked := func() int64 { return int64(len(m.Script.Requests()) - before) }
		// A title is asked for behind the answer, and may not have begun when the answer is here.
		for late := time.Now().Add(20 * time.Second); time.Now().Before(late); runtime.Gosched() {
			if m.settle(); m.booked(id) == asked() {
				break
			}
		}
		if w.Code != http.StatusOK || m.booked(id) != asked() {
			t.Errorf("%d calls, %d booked: %d %s", asked(), m.booked(id), w.Code, w.Body)
		}
		below, _, err := m.List(t.Context(), scrollback.ListQuery{AgentOf: []scrollback.ConversationID{c.ID}, Limit: 10})
		if err != nil || budget == 0 && len(below) != 2 || budget > 0 && len(below) != 1 {
			t.Errorf("with a budget of %d there are %d sub-agents, %v", budget, len(below), err)
		}
	}
}

// TestAnAdminMakesNoKeyThatMayDoMore: the keys that an admin of some projects makes have its limits, end when it does,
// and reach no further.
func TestAnAdminMakesNoKeyThatMayDoMore(t *testing.T) {
	m := newMatrix(t)
	admin, err := m.Admin()
	if err != nil {
		t.Fatal(err)
	}
	until := m.Clock.Load() + scrollback.DayMS
	id := m.key("small", scrollback.Key{Role: scrollback.AccessAdmin, Projects: []string{own}, ExpiresAt: until})
	limits := scrollback.KeyLimits{Rate: scrollback.Rate{Chats: 1, PerMS: 3_600_000},
		SpendLimit: scrollback.SpendLimit{Tokens: 1}}
	if err := admin.SetKeyLimits(t.Context(), id, limits); err != nil {
		t.Fatal(err)
	}
	add := func(body string) *httptest.ResponseRecorder {
		return m.send("POST", "/api/keys", body, "small", "application/json")
	}
	w := add(`{"name":"child","role":"admin","projects":["` + own + `"]}`)
	var made struct {
		Secret string
		scrollback.Key
	}
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || w.Code != http.StatusCreated ||
		made.ExpiresAt != until {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	limits.Maker = id
	if got, err := admin.KeyLimits(t.Context(), made.ID); err != nil || got != limits {
		t.Errorf("it may do %+v, %v", got, err)
	}
	m.keys["child"] = made.Secret
	limits.Maker = made.ID
	w = m.send("POST", "/api/keys", `{"name":"grandchild","role":"write","projects":["`+own+`"]}`, "child",
		"application/json")
	if w.Code != 201 {
		t.Errorf("%d %s", w.Code, w.Body)
	} else if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil {
		t.Error(err)
	} else if got, err := admin.KeyLimits(t.Context(), made.ID); err != nil || got != limits || made.ExpiresAt != until {
		t.Errorf("a key of the second generation may do %+v until %d, %v", got, made.ExpiresAt, err)
	}
	for _, body := range []string{
		fmt.Sprintf(`{"name":"later","role":"read","projects":[%q],"expires_at":%d}`, own, until+1),
		`{"name":"wide","role":"read"}`, `{"name":"wide","role":"read","projects":[]}`,
		`{"name":"rich","role":"read","projects":["` + own + `"],"budget":{"tokens_per_day":2}}`,
	} {
		m.is(body, add(body), http.StatusForbidden)
	}
	m.is("another project", add(`{"name":"x","role":"read","projects":["`+own+`","`+foreign+`"]}`), http.StatusNotFound)
}

// TestKeysDoNotMultiplyLimits: what the keys that an admin of some projects made use is the admin's, through all
// generations; together they may do no more than the first of them. Keys that nobody's limits are over are as they
// were.
func TestKeysDoNotMultiplyLimits(t *testing.T) {
	for name, c := range map[string]struct {
		limits scrollback.KeyLimits
		want   int // the status, once it is used up
	}{
		"chats": {scrollback.KeyLimits{Rate: scrollback.Rate{Chats: 3, PerMS: 3_600_000}},
			http.StatusTooManyRequests},
		"tokens": {scrollback.KeyLimits{SpendLimit: scrollback.SpendLimit{Tokens: 3000}},
			http.StatusUnprocessableEntity},
		"the operator's": {},
	} {
		t.Run(name, func(t *testing.T) {
			m := spender(t)
			admin, err := m.Admin()
			if err != nil {
				t.Fatal(err)
			}
			id := m.key("root", scrollback.Key{Role: scrollback.AccessAdmin, Projects: []string{own}})
			set := func() {
				if err := admin.SetKeyLimits(t.Context(), id, c.limits); err != nil {
					t.Fatal(err)
				}
			}
			if set(); c.limits.Tokens > 0 { // so that those that it makes have no copy
				if err := admin.SetKeyLimits(t.Context(), id, scrollback.KeyLimits{}); err != nil {
					t.Fatal(err)
				}
			}
			m.key("free", scrollback.Key{Role: scrollback.AccessAdmin, Projects: []string{own}})
			for made, maker := range map[string]string{"child": "root", "other": "root", "freed": "free"} {
				m.bear(made, maker)
			}
			m.bear("grandchild", "child")
			chat := func(key string) int {
				path := "/api/conversations/" + m.place(own)["{id}"] + "/chat"
				w := m.send("POST", path, `{"message":"hello","stream":false}`, key, "application/json")
				m.settle()
				return w.Code
			}
			for _, key := range []string{"child", "grandchild", "other"} {
				if got := chat(key); got != http.StatusOK {
					t.Fatalf("%s: %d", key, got)
				}
			}
			set()
			for _, key := range []string{"child", "grandchild", "other", "root"} {
				if got := chat(key); got != cmp.Or(c.want, http.StatusOK) {
					t.Errorf("%s, when what may be done is done: %d", key, got)
				}
			}
			m.bear("another", "grandchild")
			if got := chat("another"); got != cmp.Or(c.want, http.StatusOK) {
				t.Errorf("a new key: %d", got)
			}
			if got := chat("freed"); got != http.StatusOK {
				t.Errorf("a key of somebody else: %d", got)
			}
			// An operator who changes what a key may do does not change who made it.
			unlimited := scrollback.KeyLimits{Rate: scrollback.Rate{Chats: scrollback.Unlimited}}
			if err := admin.SetKeyLimits(t.Context(), m.ids["child"], unlimited); err != nil {
				t.Fatal(err)
			}
			if got := chat("child"); got != cmp.Or(c.want, http.StatusOK) {
				t.Errorf("a key whose own limits were taken away: %d", got)
			}
		})
	}
}

// bear has the holder of a key make another.
func (m *matrix) bear(name, maker string) {
	m.T.Helper()
	w := m.send("POST", "/api/keys", fmt.Sprintf(`{"name":%q,"role":"admin","projects":[%q]}`, name, own), maker,
		"application/json")
	var made struct {
		Secret string
		scrollback.Key
	}
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || w.Code != http.StatusCreated {
		m.T.Fatalf("%d %s", w.Code, w.Body)
	}
	m.keys[name] = made.Secret
	m.ids[name] = made.ID
}

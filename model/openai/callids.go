package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// What servers refuse about calls, by the names under which that is remembered. An id goes
// to the server that made it as it came until one of these was learned: a gateway may keep
// several kilobytes of its own in it.
const (
	longIDs     = "call ids over %d characters"
	notNineIDs  = "call ids other than nine letters and digits"
	oddIDs      = "call ids with other characters than letters, digits, _ and -"
	repeatedIDs = "call ids that repeat"
	unsigned    = "calls without thought_signature"

	// thinkingChunks is reasoning in the content of a message, as Mistral's models send it.
	thinkingChunks = "content with thinking"
	// unthought are calls without the thought before them, which some servers demand.
	unthought = "calls without reasoning_content"
	// signedThoughts are signatures and encrypted thoughts of this conversation.
	signedThoughts = "signed thoughts"
)

// usualIDs is how long an id of another server may be, by the strictest of OpenAI's APIs.
const usualIDs = 40

// inContent is the field of a thought that came in the content.
const inContent = "content"

// callSpeller writes the ids of calls as the server takes them. What it writes depends
// only on the calls before, so that a longer conversation begins with the same bytes.
type callSpeller struct {
	m                 *Model
	most              int // characters; 0 for no bound
	nine, odd, unique bool
	used              map[string]bool
	open              map[string]string // of the last message with calls, as written
}

func (m *Model) newCallSpeller(known scrollback.Learned, unique bool) *callSpeller {
	s := &callSpeller{m: m, unique: unique || remote.IsDropped(known, repeatedIDs),
		nine: remote.IsDropped(known, notNineIDs),
		odd:  remote.IsDropped(known, oddIDs), used: map[string]bool{}, open: map[string]string{}}
	for _, d := range known.Dropped {
		var n int
		if _, err := fmt.Sscanf(d, longIDs, &n); err == nil && n > 0 && (s.most == 0 || n < s.most) {
			s.most = n
		}
	}
	return s
}

// beginItem begins an item.
func (s *callSpeller) beginItem(it scrollback.Item) {
	if it.Role != scrollback.RoleAssistant {
		return
	}
	clear(s.open)
	if !s.unique {
		clear(s.used)
	}
}

// spellCall returns the id of a call on the wire.
func (s *callSpeller) spellCall(it scrollback.Item, id string) string {
	most := s.most
	if most == 0 && !s.m.sameServer(it) {
		most = usualIDs
	}
	want := id
	if !s.isAccepted(id, most) {
		want = s.respellID(id, 0, most)
	}
	for n := 1; s.used[want]; n++ {
		want = s.respellID(id, n, most)
	}
	s.used[want] = true
	s.open[id] = want
	return want
}

// spellResult returns the id of the call that a result answers.
func (s *callSpeller) spellResult(id string) string {
	if written, ok := s.open[id]; ok {
		return written
	}
	return id
}

var (
	nineID  = lazyregexp.New(`^[a-zA-Z0-9]{9}$`)
	plainID = lazyregexp.New(`^[a-zA-Z0-9_-]+$`)
)

func (s *callSpeller) isAccepted(id string, most int) bool {
	switch {
	case id == "":
		return false
	case s.nine:
		return nineID().MatchString(id)
	case s.odd && !plainID().MatchString(id):
		return false
	}
	return most == 0 || len([]rune(id)) <= most
}

// respellID returns another id for one that cannot be sent, the same each time.
func (s *callSpeller) respellID(id string, n, most int) string {
	h := sha256.Sum256([]byte(id + "\x00" + strconv.Itoa(n)))
	text := hex.EncodeToString(h[:])
	if s.nine {
		return text[:9]
	}
	text = "call_" + text[:24]
	if most > 0 && most < len(text) {
		return text[len(text)-most:]
	}
	return text
}

// sameServer reports whether an item was made by a model of this model's server.
func (m *Model) sameServer(it scrollback.Item) bool {
	made, _, _ := strings.Cut(it.Model, "/")
	here, _, _ := strings.Cut(m.facts.Name, "/")
	return made == here
}

// restoreBeside puts back what came beside a call. Where the server was found to demand Gemini's
// signature, the first call of a message that has none gets the word that Google documents
// for calls of other models.
func (m *Model) restoreBeside(c *chatRequest, call *wire.ToolCall, it scrollback.Item, p scrollback.ToolCall,
	first bool) {
	var back callPayload
	if m.isOwn(it) && (c.at < c.bareUntil || json.Unmarshal(p.Opaque, &back) != nil) {
		back = callPayload{}
	}
	if len(back.Extra)+len(back.Specific)+len(back.Beside)+len(back.Function) > 0 {
		c.lastSigned = string(p.Opaque)
	}
	if len(back.Extra) > 0 && c.mayUse("extra_content") {
		call.ExtraContent = back.Extra
	}
	if len(back.Specific) > 0 && c.mayUse("provider_specific_fields") {
		call.ProviderSpecificFields = back.Specific
	}
	call.Beside = c.acceptedBeside(back.Beside)
	call.Function.Beside = c.acceptedBeside(back.Function)
	if len(back.Extra)+len(back.Specific) == 0 && first && c.isDropped(unsigned) && c.mayUse("extra_content") {
		call.ExtraContent = json.RawMessage(`{"google":{"thought_signature":"skip_thought_signature_validator"}}`)
	}
}

// acceptedBeside returns what came beside a call, without what the server refuses to take back.
func (c *chatRequest) acceptedBeside(b wire.Beside) wire.Beside {
	out := wire.Beside{}
	for name, v := range b {
		if c.mayUse(name) {
			out[name] = v
		}
	}
	return out
}

var (
	aboutIDs   = lazyregexp.New(`tool[ _-]?call[ _-]?ids?\b|tool_calls?\S*\bid\b|\bcall[ _]ids?\b|tool_use\S*\bids?\b|tool[ _]?use[ _]?ids?\b|\bids? of (?:[a-z]+ ){0,2}calls?\b|\bcalls? .{0,30}\bsame id\b`)
	lengthOf   = lazyregexp.New(`(?:max(?:imum)?[ _]?length(?: of)?|maximum of|at most|no more than|no longer than|longer than|shorter than|less than or equal to|length of|up to|exceeds?|<=|limit(?: of| is)?)[^\d]{0,12}(\d+)|(\d+) char`)
	exactNine  = lazyregexp.New(`\balphanumeric\b|exactly 9\b|length (?:of|is|must be|=)? ?9\b|(?:9|nine)[- ](?:alphanumeric|char)`)
	badPattern = lazyregexp.New(`pattern|(?:invalid|illegal|unsupported|special) (?:char|format)|allowed char|must be a-z|(?:only|must) (?:contain|consist)|regex|does not match`)
	repeats    = lazyregexp.New(`\bunique\b|duplicate|\bsame id\b|repeated|already (?:been )?used|more than once`)
)

// explainRefusal recognises what servers refuse about the calls and thoughts of a conversation.
func (m *Model) explainRefusal(params []string) func(p remote.Problem) *scrollback.Error {
	return func(p remote.Problem) *scrollback.Error {
		if p.Status < 400 || p.Status >= 500 || p.Status == 401 || p.Status == 403 || p.Status == 429 {
			return nil
		}
		words := strings.ToLower(p.Message + " " + p.Param)
		refusing := ""
		switch ids := aboutIDs().MatchString(words); {
		case strings.Contains(words, "missing a thought_signature"):
			refusing = unsigned
		case ids && exactNine().MatchString(words):
			refusing = notNineIDs
		case ids && repeats().MatchString(words):
			refusing = repeatedIDs
		case ids && (strings.Contains(words, "too long") || lengthOf().MatchString(words)):
			most := usualIDs
			if f := lengthOf().FindStringSubmatch(words); f != nil {
				if n, err := strconv.Atoi(f[1] + f[2]); err == nil && n >= 8 && n <= 1<<10 {
					most = n
				}
			}
			refusing = fmt.Sprintf(longIDs, most)
		case ids && badPattern().MatchString(words):
			refusing = oddIDs
		case slices.Contains(params, thinkingChunks) && strings.Contains(words, "content") &&
			strings.Contains(words, "thinking"):
			refusing = thinkingChunks
		}
		if refusing == "" {
			return nil
		}
		return remote.NewRefusalError(m.at.Options.Provider, refusing)
	}
}

package remote

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Problem is what a server says is wrong, as far as it can be read. Servers agree
// on little: the error is an object, a string or a list, its code a string or a number,
// and some hide the cause in an error within.
type Problem struct {
	Status  int    // of HTTP; within an answer what its code says, or 0
	Code    string // lower case
	Type    string // lower case
	Param   string
	Message string // all that was said, from the outside in
	After   time.Duration
	Again   *bool // the server says itself whether to try again
	Page    bool  // a web page, not a response of an API

	Limit, Requested int64 // tokens, if they have fields of their own
}

// ReadProblem reads the body of a refusal, or an error within an answer.
func ReadProblem(status int, h http.Header, raw []byte) Problem {
	p := Problem{Status: status, After: readRetryAfter(h), Again: readShouldRetry(h)}
	trimmed := bytes.TrimSpace(raw)
	lower := bytes.ToLower(trimmed[:min(len(trimmed), 200)])
	p.Page = strings.HasPrefix(h.Get("Content-Type"), "text/html") || bytes.HasPrefix(lower, []byte("<!doctype")) ||
		bytes.HasPrefix(lower, []byte("<html"))
	v, err := decodeBody(trimmed)
	if p.Page || err != nil {
		p.addMessage(string(trimmed))
		return p
	}
	p.takeValue(v, 0)
	p.Code = strings.ToLower(p.Code)
	p.Type = strings.ToLower(p.Type)
	if p.Status == 0 {
		p.Status = isStatus(p.Code)
	}
	return p
}

func decodeBody(raw []byte) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return v, dec.Decode(&v)
}

// isStatus returns the status of HTTP that a code repeats, or 0.
func isStatus(code string) int {
	if n, err := strconv.Atoi(code); err == nil && n >= 400 && n < 600 {
		return n
	}
	return 0
}

// maxNesting bounds how deep an error may hide in others.
const maxNesting = 5

// takeValue reads a value, and what is inside it.
func (p *Problem) takeValue(v any, depth int) {
	if depth > maxNesting {
		return
	}
	switch v := v.(type) {
	case string:
		p.addMessage(v)
		if strings.HasPrefix(strings.TrimSpace(v), "{") { // an error that was put into a text
			if inner, err := decodeBody([]byte(v)); err == nil {
				p.takeValue(inner, depth+1)
			}
		}
	case []any:
		for _, one := range v[:min(len(v), 8)] {
			p.takeValue(one, depth+1)
		}
	case map[string]any:
		p.takeObject(v, depth)
	}
}

func (p *Problem) takeObject(v map[string]any, depth int) {
	v = normalizeNames(v)
	first := func(field *string, names ...string) {
		for _, name := range names {
			if s := scalarText(v[name]); s != "" && (*field == "" || isStatus(*field) > 0 && isStatus(s) == 0) {
				*field = s
			}
		}
	}
	first(&p.Type, "type", "status")
	if p.Type == "error" || p.Type == "response.failed" { // the envelope of an event
		p.Type = ""
	}
	if p.Status == 0 {
		p.Status = isStatus(scalarText(v["code"]))
	}
	first(&p.Code, "code", "errorcode", "statuscode", "reason", "quotaid", "category")
	first(&p.Param, "param", "field")
	number := func(field *int64, name string) {
		if n, err := strconv.ParseInt(scalarText(v[name]), 10, 64); err == nil && *field == 0 {
			*field = n
		}
	}
	number(&p.Limit, "nctx")
	number(&p.Requested, "nprompttokens")
	if d, err := time.ParseDuration(scalarText(v["retrydelay"])); err == nil && p.After == 0 {
		p.After = d
	}
	if id := scalarText(v["quotaid"]); id != "" { // it says what period the quota is for
		p.addMessage(id)
	}
	for _, name := range []string{"message", "errormessage", "errormsg", "statusmsg", "errmsg", "title", "detail", "error",
		"errors", "baseresp", "details", "metadata", "raw", "response", "violations", "reason", "loc", "msg"} {
		if inner, ok := v[name]; ok {
			p.takeValue(inner, depth+1)
		}
	}
}

// normalizeNames returns an object under names as no server spells them differently: error_msg,
// errorMsg and Error-Msg are one.
func normalizeNames(v map[string]any) map[string]any {
	out := make(map[string]any, len(v))
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if plain := flattenName(name); out[plain] == nil {
			out[plain] = v[name]
		}
	}
	return out
}

// maxWords bounds what is kept of a server's words, in bytes.
const maxWords = 16 << 10

// addMessage adds to the message what it does not contain yet.
func (p *Problem) addMessage(text string) {
	text = strings.TrimSpace(text)
	text = text[:min(len(text), maxWords)]
	if text == "" || strings.Contains(p.Message, text) || len(p.Message) > maxWords {
		return
	}
	if p.Message != "" {
		p.Message += " · "
	}
	p.Message += text
}

// scalarText returns a string or a number as a string.
func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// readRetryAfter returns how long a server asks to wait, 0 if it does not say.
func readRetryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e10 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil && s > 0 && s < 1e7 {
		return time.Duration(s * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

func readShouldRetry(h http.Header) *bool {
	if b, err := strconv.ParseBool(h.Get("X-Should-Retry")); err == nil {
		return &b
	}
	return nil
}

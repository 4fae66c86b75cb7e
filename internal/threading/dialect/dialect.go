// Package dialect reads requests of clients, in each dialect, into the form that threading compares.
//
// It reads what is there: fields and items that it does not know are skipped or kept as opaque, and a field of another
// type than it should have is as good as none. What fails is a body that is no JSON object.
//
// It may not know HTTP, a provider, or what becomes of a request.
package dialect

import (
	"fmt"

	"github.com/scrollback-ai/scrollback/internal/threading"
)

// Header returns the first value of a header by its name in lower case, or "".
type Header func(name string) string

// Read is [Reader.Read] for one request.
func Read(dialect threading.Dialect, header Header, body []byte) (*threading.Request, error) {
	return NewReader().Read(dialect, header, body)
}

// Read returns a request in a dialect. Its headers and its body say which conversation it is of. It fails if the body
// is no JSON object, or the dialect is not known.
func (r *Reader) Read(dialect threading.Dialect, header Header, body []byte) (*threading.Request, error) {
	known, bare := r.findKnown(dialect, body)
	fields, err := readObject(bare)
	if err != nil {
		return nil, err
	}
	asked := &threading.Request{Dialect: dialect, Model: text(fields["model"])}
	l := list{request: asked, known: known}
	switch dialect {
	case threading.Chat:
		l.readChat(fields)
	case threading.Responses:
		l.readResponses(fields)
	case threading.Messages:
		l.readMessages(fields)
	case threading.Gemini:
		l.readGemini(fields)
	case threading.Ollama:
		l.readOllama(fields)
	default:
		return nil, fmt.Errorf("%q is not a dialect", dialect)
	}
	l.known.remember()
	readNames(asked, header, fields)
	asked.Body = hashBody(body)
	return asked, nil
}

// list collects the items of a request.
type list struct {
	request *threading.Request
	known   knownMessages
	message int
	part    int
}

// add adds an item at the place that is being read.
func (l *list) add(item threading.Item) {
	item.Message = l.message
	item.Part = l.part
	l.request.Items = append(l.request.Items, item)
}

// addText adds a text, if it says anything.
func (l *list) addText(role threading.Role, s string) {
	if s != "" {
		l.add(threading.Item{Role: role, Kind: threading.Text, Text: s})
	}
}

// each calls a function with each element of a value that is a list, or with the value if it is none.
func (l *list) each(v any, read func(v any)) {
	if v == nil {
		return
	}
	elements, ok := v.([]any)
	if !ok {
		elements = []any{v}
	}
	for i, e := range elements {
		l.part = i
		read(e)
	}
	l.part = 0
}

// roleOf returns the role of a message in OpenAI's, Anthropic's or Google's words; user, if there is none.
func roleOf(v any) threading.Role {
	switch role := text(v); role {
	case "assistant", "model":
		return threading.Assistant
	case "system", "developer":
		return threading.System
	case "tool", "function":
		return threading.Tool
	default:
		return threading.User
	}
}

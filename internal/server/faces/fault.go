package faces

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/access"
	"github.com/scrollback-ai/scrollback/model"
)

// ErrorBody is an error as the clients of OpenAI and of Anthropic read it.
type ErrorBody struct {
	Type  string    `json:"type"`
	Error ErrorSays `json:"error"`
}

// ErrorSays is what an error says.
type ErrorSays struct {
	Type    string  `json:"type"`
	Code    *string `json:"code"`
	Message string  `json:"message"`
	Param   *string `json:"param"`
	Details any     `json:"details,omitempty"`
}

// NewErrorBody returns the body of an error whose type is one of those of an API, by its status; otherwise is the type
// of all others.
func NewErrorBody(f Fault, types map[int]string, otherwise string) ErrorBody {
	out := ErrorBody{Type: "error", Error: ErrorSays{Type: types[f.Status], Code: &f.Code, Message: f.Message}}
	if out.Error.Type == "" {
		out.Error.Type = otherwise
	}
	if f.Param != "" {
		out.Error.Param = &f.Param
	}
	return out
}

// OpenAITypes are the types of OpenAI's errors, by status; all others are "server_error".
var OpenAITypes = map[int]string{http.StatusBadRequest: "invalid_request_error",
	http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error",
	http.StatusNotFound: "not_found_error", http.StatusRequestEntityTooLarge: "invalid_request_error",
	http.StatusTooManyRequests: "rate_limit_error"}

// AnthropicTypes are the types of Anthropic's errors, by status; all others are "api_error".
var AnthropicTypes = map[int]string{http.StatusBadRequest: "invalid_request_error",
	http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_error",
	http.StatusNotFound: "not_found_error", http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests: "rate_limit_error", http.StatusServiceUnavailable: "overloaded_error", overloaded: "overloaded_error"}

// overloaded is the status of a server of Anthropic's that has too much to do.
const overloaded = 529

// GoogleBody is an error as the clients of Google read it.
type GoogleBody struct {
	Error GoogleSays `json:"error"`
}

// GoogleSays is what it says.
type GoogleSays struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Status  string `json:"status"`
}

// NewGoogleBody returns the body of an error.
func NewGoogleBody(f Fault) GoogleBody {
	word := googleWords[f.Status]
	if word == "" {
		word = "INTERNAL"
	}
	return GoogleBody{GoogleSays{Code: f.Status, Message: f.Message, Status: word}}
}

var googleWords = map[int]string{http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED",
	http.StatusForbidden: "PERMISSION_DENIED", http.StatusNotFound: "NOT_FOUND", http.StatusConflict: "ABORTED",
	http.StatusRequestEntityTooLarge: "INVALID_ARGUMENT", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED",
	http.StatusBadGateway: "UNAVAILABLE", http.StatusServiceUnavailable: "UNAVAILABLE",
	http.StatusGatewayTimeout: "DEADLINE_EXCEEDED"}

// RefuseRequest writes an error of a request that reaches no face, in the form of the face that it was sent to.
func RefuseRequest(w http.ResponseWriter, r *http.Request, err error) {
	s := NewStream(w)
	fault := s.FaultOf(err)
	var body any
	switch {
	case strings.HasPrefix(r.URL.Path, "/v1beta/"), AsksGoogle(r),
		strings.HasPrefix(r.URL.Path, "/v1/models/") && r.Method == http.MethodPost:
		body = NewGoogleBody(fault)
	case strings.HasPrefix(r.URL.Path, "/v1/messages"), AsksAnthropic(r):
		body = NewErrorBody(fault, AnthropicTypes, "api_error")
	case strings.HasPrefix(r.URL.Path, "/api/"):
		body = map[string]string{"error": fault.Message} // Ollama's
	default:
		body = NewErrorBody(fault, OpenAITypes, "server_error")
	}
	s.Refuse(fault.Status, body)
}

// AsksAnthropic reports whether a request is one of a client of Anthropic's, wherever it is sent.
func AsksAnthropic(r *http.Request) bool { return r.Header.Get("Anthropic-Version") != "" }

// AsksGoogle reports whether a request is one of a client of Google's, wherever it is sent.
func AsksGoogle(r *http.Request) bool {
	return r.Header.Get("X-Goog-Api-Key") != "" || r.Header.Get("X-Goog-Api-Client") != "" ||
		access.SentQueryKey(r.Context())
}

// overflow reports whether an error says that a request does not fit the model's window, and in which figures, in
// tokens; 0 where they are not known. A budget of a day that is used up has the same code.
func overflow(err error) (tokens, most int64, ok bool) {
	if l := model.LessonOf(err); l != nil && l.TooLong {
		return l.Requested, l.Limit, true
	}
	var known *scrollback.Error
	if !errors.As(err, &known) || known.Code != scrollback.OverBudget || known.Advice == scrollback.AdviceWait {
		return 0, 0, false
	}
	if s := scrollback.SentenceOf(err); s.ID == i18n.RequestOverBudget && len(s.Args) > 3 {
		return readFigure(s.Args[0]), readFigure(s.Args[3]), true
	}
	return 0, 0, true
}

// readFigure returns a figure of a sentence.
func readFigure(s scrollback.Sentence) int64 {
	n, err := strconv.ParseInt(s.Value, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// SayTooLong returns the message with the words by which the clients of Anthropic know that a request does not fit.
func (f Fault) SayTooLong() string {
	switch {
	case !f.TooLong:
		return f.Message
	case f.Tokens > f.Most && f.Most > 0:
		return fmt.Sprintf("prompt is too long: %d tokens > %d maximum (%s)", f.Tokens, f.Most, f.Message)
	}
	return "prompt is too long: " + f.Message
}

package scrollback

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Failure is why a turn failed, as its caller may see it. Cause is what the model's
// provider said about it, shortened and without keys or addresses; Advice is what a person
// can do, and Setting the environment variable or flag that it is about.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Cause   string `json:"cause,omitempty"`
	Advice  Advice `json:"advice,omitempty"`
	Setting string `json:"setting,omitempty"`

	// Permanent says that the same request will fail again in the same way. Suspect is the
	// first message since the last answer, 0 if there is none: a request that leaves it out
	// may go. Upstream says that the model's provider failed, and not this program.
	Permanent bool  `json:"permanent,omitempty"`
	Suspect   int64 `json:"suspect_seq,omitempty"`
	Upstream  bool  `json:"upstream,omitempty"`

	// Said is what Message was made of, for those who read it in another language; nil if
	// that is not known. Faces do not show it.
	Said *Sentence `json:"said,omitempty" hidden:"true"`
}

// Advice is what a person can do about a failure. Faces say it in their own words.
type Advice string

// What can be advised; empty is nothing in particular.
const (
	AdviceSetKey       Advice = "set_key"       // Setting has no key
	AdviceCheckKey     Advice = "check_key"     // the key in Setting is refused, or not allowed to do this
	AdviceTopUp        Advice = "top_up"        // the account behind the key in Setting has nothing left
	AdviceCheckAddress Advice = "check_address" // Setting leads to no server of this kind
	AdviceChooseModel  Advice = "choose_model"  // the model does not exist there, or cannot do this
	AdviceRaiseLimit   Advice = "raise_limit"   // Setting makes the window larger
	AdviceRephrase     Advice = "rephrase"      // the provider's rules on content stand against it
	AdviceWait         Advice = "wait"          // too many requests: later it may go
	AdviceRetry        Advice = "retry"         // it may go the next time
	AdviceLeaveOut     Advice = "leave_out"     // go back before what is refused, leave it out, or choose another model
)

// FailureOf returns err as a turn stores it.
func FailureOf(err error) *Failure {
	said := SentenceOf(err)
	f := &Failure{Code: CodeOf(err), Message: said.String(), Said: &said, Permanent: errors.Is(err, ErrPermanent),
		Upstream: errors.Is(err, ErrUpstream)}
	var known *Error
	if errors.As(err, &known) {
		f.Cause = known.Cause
		f.Advice = known.Advice
		f.Setting = known.Setting
		f.Suspect = known.Suspect
	}
	if f.Advice != "" {
		return f
	}
	switch {
	case errors.Is(err, ErrNoModel):
		f.Advice = AdviceChooseModel
	case errors.Is(err, ErrReplyBound):
	case f.Permanent:
		f.Advice = AdviceLeaveOut
	case f.Code == OverBudget:
		f.Advice = AdviceRaiseLimit
		f.Setting = "--limit"
	case f.Code == RateLimited:
		f.Advice = AdviceWait
	case f.Code == Unavailable, f.Code == Canceled, f.Code == Conflict:
		f.Advice = AdviceRetry
	}
	return f
}

// Err returns the failure as an error again.
func (f Failure) Err(op string) *Error {
	err := &Error{Code: f.Code, Op: op, Err: errors.New(f.Message), Cause: f.Cause, Advice: f.Advice, Setting: f.Setting,
		Suspect: f.Suspect}
	switch {
	case f.Upstream && f.Permanent:
		_ = err.WithReason(errors.Join(ErrUpstream, ErrPermanent))
	case f.Upstream:
		_ = err.WithReason(ErrUpstream)
	case f.Permanent:
		_ = err.WithReason(ErrPermanent)
	}
	if f.Said != nil {
		err.text = f.Said.message()
		err.args = nil
		for _, arg := range f.Said.Args {
			err.args = append(err.args, arg)
		}
	}
	return err
}

// TextID names a sentence of the program's catalogue, in which it exists in each language. One
// that the catalogue does not have is an English format itself. Among the values of a sentence it
// is words of ours, which are said in the reader's language; other values stay as they are.
type TextID = i18n.ID

// Sentence is a sentence of ours before it is written out: its id, its English format, by which
// it is known where it was stored before sentences had ids, and its values. Without a format it
// is a value.
type Sentence struct {
	ID     TextID     `json:"id,omitempty"`
	Format string     `json:"format,omitempty"`
	Args   []Sentence `json:"args,omitempty"`
	Value  string     `json:"value,omitempty"`
}

// NewSentence returns a sentence with its values, each written out as its verb says.
func NewSentence(text TextID, args ...any) Sentence {
	format := text.String()
	t := Sentence{Format: format}
	if format != string(text) {
		t.ID = text
	}
	for _, v := range verb().FindAllString(format, -1) {
		if strings.HasSuffix(v, "%") || len(t.Args) == len(args) {
			continue
		}
		t.Args = append(t.Args, valueOf(v, args[len(t.Args)]))
	}
	return t
}

// Is reports whether this is the sentence of an id, whatever its values are.
func (t Sentence) Is(text TextID) bool { return t.ID == text || t.Format == text.String() }

// message returns what the sentence was made with.
func (t Sentence) message() TextID { return cmp.Or(t.ID, TextID(t.Format)) }

// String returns the sentence in English.
func (t Sentence) String() string { return t.In(i18n.English) }

// In returns the sentence in a language, or in English if the catalogue does not have it. The
// language may give values by their number, as %[2]s; they stand as they do in English.
func (t Sentence) In(l i18n.Language) string {
	if t.Format == "" {
		return l.Translate(t.Value) // which may be a sentence too, written out in English
	}
	format := t.Format
	if l != i18n.English {
		format, _ = l.Format(t.ID, t.Format)
	}
	next := 0
	return verb().ReplaceAllStringFunc(format, func(v string) string {
		if strings.HasSuffix(v, "%") {
			return "%"
		}
		if m := verb().FindStringSubmatch(v); m[1] != "" {
			next, _ = strconv.Atoi(m[1])
			next--
		}
		if next++; next > len(t.Args) {
			return ""
		}
		return t.Args[next-1].In(l)
	})
}

// verb is a place for a value in a format.
var verb = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`%(?:\[(\d+)\])?[-+# 0-9.]*[a-zA-Z%]`)
})

func valueOf(verb string, arg any) Sentence {
	switch v := arg.(type) {
	case Sentence:
		return v
	case TextID:
		return NewSentence(v)
	case error:
		if known := new(Error); errors.As(v, &known) {
			return SentenceOf(v)
		}
		return Sentence{Value: v.Error()}
	}
	return Sentence{Value: fmt.Sprintf(verb, arg)}
}

// SentenceOf returns what [PublicMessage] says, before it is written out.
func SentenceOf(err error) Sentence {
	var known *Error
	if !errors.As(err, &known) || known.Err == nil {
		if CodeOf(err) == Canceled {
			return NewSentence(i18n.RequestStopped)
		}
		return NewSentence(i18n.InternalError)
	}
	own := Sentence{Value: known.Err.Error()}
	if known.text != "" {
		own = NewSentence(known.text, known.args...)
	}
	switch known.Code {
	case Internal:
		return NewSentence(i18n.InternalError)
	case Unavailable:
		switch {
		case errors.Is(known.Reason, ErrUpstream), errors.Is(known.Reason, ErrReplyBound),
			errors.Is(known.Reason, ErrObjects):
			return own // our own words; the provider's are in Detail
		case errors.Is(err, ErrUpstream): // its text may hold theirs
			return NewSentence(i18n.ModelCouldNotAnswer)
		case errors.Is(err, ErrClosing):
			return NewSentence(i18n.ServerShutsDown)
		case errors.Is(err, ErrDisplaced):
			return NewSentence(i18n.DatabaseGone)
		case errors.Is(err, ErrMoving):
			return NewSentence(i18n.StoreIsBeingMoved)
		case errors.Is(err, ErrNoRoom):
			return NewSentence(i18n.DiskIsFull)
		}
		return NewSentence(i18n.StoreCannotAnswer)
	}
	return own
}

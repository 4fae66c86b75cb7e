package scrollback

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
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
		_ = err.Because(errors.Join(ErrUpstream, ErrPermanent))
	case f.Upstream:
		_ = err.Because(ErrUpstream)
	case f.Permanent:
		_ = err.Because(ErrPermanent)
	}
	if f.Said != nil {
		err.format = f.Said.Format
		err.args = nil
		for _, arg := range f.Said.Args {
			err.args = append(err.args, arg)
		}
	}
	return err
}

// Phrase is a value of a sentence that is words of ours, and reads differently in another
// language; values of other types are shown as they are.
type Phrase string

// Sentence is a sentence of ours before it is written out: the format by which the tables of
// other languages know it, and its values. Without a format it is a value.
type Sentence struct {
	Format string     `json:"format,omitempty"`
	Args   []Sentence `json:"args,omitempty"`
	Value  string     `json:"value,omitempty"`
}

// String is the sentence in English.
func (t Sentence) String() string { return t.In(nil) }

// In is the sentence in a language: its table has formats by English formats. What the
// table does not have is in English. Formats of the table may give values by their number,
// as %[2]s; they stand as they do in English.
func (t Sentence) In(table map[string]string) string {
	if t.Format == "" {
		return t.Value
	}
	format, ok := table[t.Format]
	if !ok {
		format = t.Format
	}
	next := 0
	return verb.ReplaceAllStringFunc(format, func(v string) string {
		if strings.HasSuffix(v, "%") {
			return "%"
		}
		if m := verb.FindStringSubmatch(v); m[1] != "" {
			next, _ = strconv.Atoi(m[1])
			next--
		}
		if next++; next > len(t.Args) {
			return ""
		}
		return t.Args[next-1].In(table)
	})
}

// verb is a place for a value in a format.
var verb = regexp.MustCompile(`%(?:\[(\d+)\])?[-+# 0-9.]*[a-zA-Z%]`)

// textOf is a format with its values, each written out as its verb says.
func textOf(format string, args []any) Sentence {
	t := Sentence{Format: format}
	for _, v := range verb.FindAllString(format, -1) {
		if strings.HasSuffix(v, "%") || len(t.Args) == len(args) {
			continue
		}
		t.Args = append(t.Args, valueOf(v, args[len(t.Args)]))
	}
	return t
}

func valueOf(verb string, arg any) Sentence {
	switch v := arg.(type) {
	case Sentence:
		return v
	case Phrase:
		return Sentence{Format: string(v)}
	case error:
		if known := new(Error); errors.As(v, &known) {
			return SentenceOf(v)
		}
		return Sentence{Value: v.Error()}
	}
	return Sentence{Value: fmt.Sprintf(verb, arg)}
}

// The sentences for what must not be shown as it is.
const (
	textInternal = "internal error; the log has the details"
	textStore    = "the store cannot answer now; nothing was lost"
	textModel    = "the model could not answer; try again"
	textClosing  = "the server is shutting down; try again"
	textStopped  = "the request was stopped"
	textGone     = "the database was deleted, replaced or cut short while it was in use; nothing more is written until scrollback is started again, and the log says what could be rescued"
	textMoving   = "this store is being moved to another place; here it can only be read"
	textNoRoom   = "there is no room left on the disk; what was acknowledged is kept"
)

// SentenceOf is what [Shown] says, before it is written out.
func SentenceOf(err error) Sentence {
	var known *Error
	if !errors.As(err, &known) || known.Err == nil {
		if CodeOf(err) == Canceled {
			return Sentence{Format: textStopped}
		}
		return Sentence{Format: textInternal}
	}
	own := Sentence{Value: known.Err.Error()}
	if known.format != "" {
		own = textOf(known.format, known.args)
	}
	switch known.Code {
	case Internal:
		return Sentence{Format: textInternal}
	case Unavailable:
		switch {
		case errors.Is(known.Reason, ErrUpstream), errors.Is(known.Reason, ErrReplyBound),
			errors.Is(known.Reason, ErrObjects):
			return own // our own words; the provider's are in Detail
		case errors.Is(err, ErrUpstream): // its text may hold theirs
			return Sentence{Format: textModel}
		case errors.Is(err, ErrClosing):
			return Sentence{Format: textClosing}
		case errors.Is(err, ErrDisplaced):
			return Sentence{Format: textGone}
		case errors.Is(err, ErrMoving):
			return Sentence{Format: textMoving}
		case errors.Is(err, ErrNoRoom):
			return Sentence{Format: textNoRoom}
		}
		return Sentence{Format: textStore}
	}
	return own
}

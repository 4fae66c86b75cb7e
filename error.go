package scrollback

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Code is the kind of failure of an [Error]. Every face responds by it.
type Code string

// The codes. Nothing above the room that classified an error reads its text.
const (
	Invalid     Code = "invalid"      // the request itself is wrong
	NotFound    Code = "not_found"    // no such thing, or not for this caller
	Conflict    Code = "conflict"     // somebody else was first
	OverBudget  Code = "over_budget"  // it does not fit the window, even compacted
	Refused     Code = "refused"      // understood, and not allowed
	RateLimited Code = "rate_limited" // too many, try later
	Unavailable Code = "unavailable"  // the store or the provider cannot answer now
	Canceled    Code = "canceled"     // the caller stopped it
	Internal    Code = "internal"     // a fault of ours
)

// Finer reasons, found with errors.Is, that change only how a face responds: [Error.Reason].
var (
	ErrTooLarge     = errors.New("too large")            // Invalid
	ErrPrecondition = errors.New("precondition failed")  // Conflict
	ErrUpstream     = errors.New("the model's provider") // Unavailable
	ErrPermanent    = errors.New("the same again")       // Unavailable or Refused: the same request will be refused again
	ErrReplyBound   = errors.New("the bound of a reply") // Unavailable: the turn keeps what it has
	ErrNoKey        = errors.New("no key that counts")   // Refused: the caller is not known
	ErrNoModel      = errors.New("no such model")        // Invalid
	ErrClosing      = errors.New("the server is shutting down")
	ErrLostLease    = errors.New("another owner has this turn")
	// Unavailable: until the program is started again
	ErrDisplaced = errors.New("the open database is not the one at its path")
	ErrNoRoom    = errors.New("there is no room left on the disk")         // Unavailable
	ErrMoving    = errors.New("the store is being moved to another place") // Unavailable: it can only be read
	ErrObjects   = errors.New("the object store")                          // Unavailable
)

// Error is the one error type of the product.
type Error struct {
	Code  Code
	Op    string // the operation, as "engine.Turn"; for logs, never shown
	Param string // the request field at fault, or empty
	Err   error

	// Detail is what somebody else wrote about it, such as a library, redacted. It is
	// for logs, and never shown.
	Detail string

	// Cause is what a provider said about it, shortened and without keys or addresses;
	// Advice and Setting are what a person can do, and Suspect the message that a request
	// may go without. See [Failure].
	Cause   string
	Advice  Advice
	Setting string
	Suspect int64

	// Reason refines the code and adds nothing to the text; it may be nil.
	Reason error

	text TextID // that Err was made with; see [SentenceOf]
	args []any
}

// WithReason refines the error's code.
func (e *Error) WithReason(reason error) *Error {
	e.Reason = reason
	return e
}

// WithAdvice adds what a person can do about the error, and the setting that it is about.
func (e *Error) WithAdvice(a Advice, setting string) *Error {
	e.Advice = a
	e.Setting = setting
	return e
}

// Errorf makes an Error with a sentence of the catalogue, or an English format of the caller's
// own; it may wrap with %w.
func Errorf(code Code, op string, text TextID, args ...any) *Error {
	return &Error{Code: code, Op: op, Err: fmt.Errorf(text.String(), args...), text: text, args: args}
}

// ParamErrorf makes an Invalid error that names the request field at fault.
func ParamErrorf(op, param string, text TextID, args ...any) *Error {
	e := Errorf(Invalid, op, text, args...)
	e.Param = param
	return e
}

func (e *Error) Error() string {
	text := string(e.Code)
	if e.Err != nil {
		text = e.Err.Error()
	}
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	return e.Op + ": " + text
}

// Unwrap serves errors.Is and errors.As.
func (e *Error) Unwrap() []error {
	return slices.DeleteFunc([]error{e.Err, e.Reason}, func(err error) bool { return err == nil })
}

// Wrap gives err a code and an operation, and keeps the code it already has.
func Wrap(code Code, op string, err error) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		code = Canceled
	}
	return &Error{Code: code, Op: op, Err: err}
}

// CodeOf returns the code of err: Internal for an error of no known kind, Canceled
// for an ended context, and empty for nil.
func CodeOf(err error) Code {
	var known *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return known.Code
	case errors.Is(err, context.Canceled):
		return Canceled
	}
	return Internal
}

var exitCodes = map[Code]int{
	Invalid:     2,
	Refused:     1,
	NotFound:    3,
	Conflict:    4,
	OverBudget:  5,
	RateLimited: 6,
	Canceled:    130, // as of a process that was interrupted
	Internal:    1,
	Unavailable: 6,
}

// ExitCodeOf returns the exit code of a process that ends with err; 0 for nil.
func ExitCodeOf(err error) int { return exitCodes[CodeOf(err)] }

// PublicMessage returns the text of err that a caller may see. Internal faults and faults of
// a backend are named only by kind: their text may hold paths, SQL or keys.
func PublicMessage(err error) string { return SentenceOf(err).String() }

package scrollback

import "errors"

// Failure is why a turn failed, as its caller may see it. Cause is what the model's
// provider said about it, shortened and without keys or addresses; Advice is what a person
// can do, and Setting the environment variable or flag that it is about.
type Failure struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Cause   string `json:"cause,omitempty"`
	Advice  Advice `json:"advice,omitempty"`
	Setting string `json:"setting,omitempty"`
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
)

// FailureOf is err as a turn keeps it.
func FailureOf(err error) *Failure {
	f := &Failure{Code: CodeOf(err), Message: Shown(err)}
	var known *Error
	if errors.As(err, &known) {
		f.Cause, f.Advice, f.Setting = known.Cause, known.Advice, known.Setting
	}
	if f.Advice != "" {
		return f
	}
	switch {
	case errors.Is(err, ErrNoModel):
		f.Advice = AdviceChooseModel
	case errors.Is(err, ErrReplyBound):
	case f.Code == OverBudget:
		f.Advice, f.Setting = AdviceRaiseLimit, "--limit"
	case f.Code == RateLimited:
		f.Advice = AdviceWait
	case f.Code == Unavailable, f.Code == Canceled, f.Code == Conflict:
		f.Advice = AdviceRetry
	}
	return f
}

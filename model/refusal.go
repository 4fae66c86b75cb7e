package model

import (
	"errors"
	"time"

	"github.com/scrollback-ai/scrollback"
)

// Refusal is how a model's server refused a request. It is the reason of an error, or one of several; the server's
// words are the error's Cause.
type Refusal struct {
	Status int           // of HTTP; 0 if it broke off what it had begun, and gave none
	After  time.Duration // when it may be asked again; 0 if it did not say
}

func (*Refusal) Error() string { return "the model's server refused the request" }

// RefusalOf returns how a model's server refused a request, and in which words, or nil for any other error.
func RefusalOf(err error) (r *Refusal, words string) {
	var known *scrollback.Error
	if !errors.As(err, &r) || !errors.As(err, &known) {
		return nil, ""
	}
	return r, known.Cause
}

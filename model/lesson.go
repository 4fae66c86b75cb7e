package model

import (
	"errors"
	"fmt"

	"github.com/scrollback-ai/scrollback"
)

// Lesson is what an exchange taught about a model's server. As the reason of an error
// it says why the request was refused and cannot be sent again as it was; in a
// delta, what was changed so that the request was accepted. Zero fields teach nothing.
type Lesson struct {
	// TooLong says that the request was too long. Limit is the window that the
	// server named, Requested the tokens of input it counted, 0 if it did not say.
	TooLong          bool
	Limit, Requested int64
	Bytes            bool // too long in bytes, whatever its tokens

	MaxOutput int64                 // the longest answer that may be requested, in tokens
	Drop      string                // a parameter that is refused
	Strict    scrollback.Strictness // what the model's chat template demands
	API       string                // "chat" if the server supports nothing newer
}

// Error makes a lesson a reason of an error. It is never shown by itself.
func (l *Lesson) Error() string { return fmt.Sprintf("lesson %+v", *l) }

// LessonOf is the lesson of an error, or nil.
func LessonOf(err error) *Lesson {
	var l *Lesson
	if errors.As(err, &l) {
		return l
	}
	return nil
}

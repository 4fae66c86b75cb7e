package model

import (
	"errors"
	"fmt"

	"github.com/scrollback-ai/scrollback"
)

// Lesson is what an exchange taught of a model's server. As the reason of an error
// it says why the request was refused and cannot be sent again as it was; in a
// delta, what was changed for the request to be taken. Zero fields teach nothing.
type Lesson struct {
	// TooLong says that the request was too long. Limit is the window that the
	// server named, Requested the tokens of input it counted, 0 where it did not say.
	TooLong          bool
	Limit, Requested int64
	Bytes            bool // too long in bytes, whatever its tokens

	MaxOutput int64                 // the longest answer that may be asked for, in tokens
	Drop      string                // a parameter that is refused
	Strict    scrollback.Strictness // what the model's chat template demands
	API       string                // "chat" where no newer one is spoken
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

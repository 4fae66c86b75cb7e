package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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
	MaxImages int                   // how many images one request may have
	NoMedia   string                // media types of images that are refused, a blank between them
	NoImages  string                // what stands for single images that are refused, likewise
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

// imagesKept bounds how many refused images are remembered of one model.
const imagesKept = 256

// Images takes over what the lesson says about images, and says whether any of it is new.
func (l *Lesson) Images(known *scrollback.Learned) (news bool) {
	if l.MaxImages > 0 && (known.MaxImages == 0 || l.MaxImages < known.MaxImages) {
		known.MaxImages, news = l.MaxImages, true
	}
	add := func(to *[]string, names string) {
		for _, name := range strings.Fields(names) {
			if !slices.Contains(*to, name) {
				*to, news = append(slices.Clone(*to), name), true
			}
		}
	}
	add(&known.NoMedia, l.NoMedia)
	add(&known.NoImages, l.NoImages)
	if over := len(known.NoImages) - imagesKept; over > 0 {
		known.NoImages = known.NoImages[over:]
	}
	return news
}

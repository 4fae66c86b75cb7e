package model

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// Lesson is what an exchange with a model's server showed about it. As the reason of an error
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

// upTo stands in what is dropped between a kind of payload and the mark of the last one
// that was refused.
const upTo = " up to "

// UpTo returns the name for payloads of a kind, up to one, that a server refuses: what came
// after it may go back.
func UpTo(kind, payload string) string {
	h := sha256.Sum256([]byte(payload))
	return kind + upTo + hex.EncodeToString(h[:8])
}

// maxUpTo bounds how many of them are remembered of a model.
const maxUpTo = 128

// AddDropped adds a name to what is dropped. Of those that concern one conversation the
// oldest are forgotten.
func AddDropped(dropped []string, name string) []string {
	if slices.Contains(dropped, name) {
		return dropped
	}
	dropped = append(slices.Clone(dropped), name)
	n := 0
	for i := len(dropped) - 1; i >= 0; i-- {
		if strings.Contains(dropped[i], upTo) {
			if n++; n > maxUpTo {
				dropped = slices.Delete(dropped, i, i+1)
			}
		}
	}
	return dropped
}

// Error makes a lesson a reason of an error. It is never shown by itself.
func (l *Lesson) Error() string { return fmt.Sprintf("lesson %+v", *l) }

// LessonOf returns the lesson of an error, or nil.
func LessonOf(err error) *Lesson {
	var l *Lesson
	if errors.As(err, &l) {
		return l
	}
	return nil
}

// imagesKept bounds how many refused images are remembered of one model.
const imagesKept = 256

// LearnImages takes over what the lesson says about images, and says whether any of it is new.
func (l *Lesson) LearnImages(known *scrollback.Learned) (news bool) {
	if l.MaxImages > 0 && (known.MaxImages == 0 || l.MaxImages < known.MaxImages) {
		known.MaxImages = l.MaxImages
		news = true
	}
	add := func(to *[]string, names string) {
		for _, name := range strings.Fields(names) {
			if !slices.Contains(*to, name) {
				*to = append(slices.Clone(*to), name)
				news = true
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

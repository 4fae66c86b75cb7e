package main

import (
	"fmt"
	"strings"
)

// makeProse returns about n words of sentences that differ: names, figures, files, wishes, and here and there what is
// kept of a conversation.
func (w *writer) makeProse(words int) string {
	var b strings.Builder
	for written := 0; written < words; {
		s := w.makeSentence()
		written += strings.Count(s, " ") + 1
		b.WriteString(s)
		b.WriteByte(" \n"[w.rng.IntN(9)/8])
	}
	return b.String()
}

// makeSentence fills one of the forms with words of its own.
func (w *writer) makeSentence() string {
	form := forms[w.rng.IntN(len(forms))]
	for strings.Contains(form, "{") {
		at := strings.IndexByte(form, '{')
		end := at + strings.IndexByte(form[at:], '}')
		form = form[:at] + w.fillSlot(form[at+1:end]) + form[end+1:]
	}
	return form
}

// fillSlot returns what stands in a slot of a form.
func (w *writer) fillSlot(slot string) string {
	word := func() string { return vocabulary[w.rng.IntN(len(vocabulary))] }
	switch slot {
	case "n":
		return fmt.Sprint(1 + w.rng.IntN(4000))
	case "file":
		return fmt.Sprintf("internal/%s/%s.go", word(), word())
	case "Name":
		name := word()
		return strings.ToUpper(name[:1]) + name[1:]
	case "verb":
		return verbs[w.rng.IntN(len(verbs))]
	case "adj":
		return adjectives[w.rng.IntN(len(adjectives))]
	}
	return word()
}

var (
	verbs = strings.Fields(`build test move rename split drop cache retry log parse merge review document measure
		deploy rewrite delay bound validate sort index`)
	adjectives = strings.Fields(`slow quick broken stale empty partial nested duplicate wrong careful noisy
		optional private shared old new`)
	forms = strings.Split(`I looked at {file} and the {w} of {Name} is {adj} after {n} calls.
Could you {verb} the {w} in {file}, so that {Name} sees no {adj} {w} any more?
The {adj} {w} comes from {Name}, which reads {n} rows of {w} before it can {verb} anything.
We decided to {verb} {w} instead of {w}, because {Name} asked for {n} of them on Friday.
Please always {verb} the {w} before you {verb} the {w}.
I prefer {adj} {w} over {adj} {w} in this project.
Remind me to {verb} {file} when the {w} is done.
It failed again: expected {n}, got {n} in {file} at line {n}.
My colleague {Name} works on the {w} until the {n}th.
There are two ways: {verb} the {w} at once, or {verb} it when {Name} is {adj}.
After that the {w} took {n} ms, and the {adj} one {n} ms.
No, the {w} must not {verb} a {adj} {w}; {Name} would notice.
That is done: {file} now has a {adj} {w}, and {n} tests pass.
Next I will {verb} the {w} and then {verb} {Name}'s {w}.
If the {w} is {adj}, return an error that names {Name} and the {w}.
The root cause was a {adj} {w} in {Name}, written {n} days ago.
What does {Name} do with a {adj} {w} when there are {n} of them?
It should {verb} whatever {w} says, unless {file} is {adj}.`, "\n")
)

package drivertest

import (
	"fmt"
	"slices"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// clientTalk is what a client of the walk has of a conversation, and sends again with every request.
type clientTalk struct {
	scope threading.Scope
	name  string
	items []threading.Item
}

// clientRequest is a request that runs: its match by each of the two databases, and its turn.
type clientRequest struct {
	a, b *threading.Match
	talk *clientTalk
	turn *scrollback.Turn // nil for a side call
}

// matchSeen is what is compared of a match.
type matchSeen struct {
	Purpose    threading.Purpose
	Course     threading.Course
	Thread     threading.ThreadID
	Base       threading.Place
	New        []threading.Hash
	Sent, From int
	Adopted    int
	Less, Leaf bool
	Fork       threading.ThreadID
	Side       string
	Compaction *threading.ClientCompaction
	Leaves     []threading.RequestID
	Earlier    *threading.RequestRow
}

func seenOf(m *threading.Match) matchSeen {
	out := matchSeen{Purpose: m.Purpose, Course: m.Course, Thread: m.Thread, Base: m.Base, Sent: m.Sent, From: m.From,
		Adopted: m.Adopted, Less: m.Less, Leaf: m.Leaf, Fork: m.Fork, Side: m.Side, Compaction: m.Compaction,
		Leaves: m.Leaves, Earlier: m.Earlier}
	for _, a := range m.New {
		out.New = append(out.New, a.Key)
	}
	return out
}

// matchBoth matches a request by both databases.
func (w *randomWalk) matchBoth(scope threading.Scope, r *threading.Request) (a, b *threading.Match) {
	w.t.Helper()
	callBoth(w, fmt.Sprintf("match %s of %v %q", r.Name, scope, said(r.Items)),
		func(d *driver.Driver) (matchSeen, error) {
			m, err := newMatcher(d.Threads.IndexAt(w.now)).Match(w.ctx, scope, r, time.UnixMilli(w.now))
			if err != nil {
				return matchSeen{}, err
			}
			if d == w.a {
				a = m
			} else {
				b = m
			}
			of, body := m.Asked()
			return seenOf(m), d.Threads.CountAsked(w.ctx, of, body, w.now)
		})
	return a, b
}

func said(items []threading.Item) []string {
	var out []string
	for _, it := range items {
		out = append(out, it.Text)
	}
	return out
}

// sendRequest has a client send its history: with more behind it, the same once more, with another past, under
// another name, without its beginning, or as a side call.
func (w *randomWalk) sendRequest() {
	talk := w.pickTalk()
	r := newRequest(talk.name, slices.Clone(talk.items))
	if w.chance(10) {
		r.Declared = "claude:auxiliary"
	}
	r.Body = threading.HashOf("body", talk.name, fmt.Sprint(r.Items), r.Declared)
	w.advanceClock()
	a, b := w.matchBoth(talk.scope, r)
	if a == nil || !a.IsCall() {
		return
	}
	request := w.newID("turn")
	created := w.newID("conversation")
	branches := []string{w.newID("thread branch"), w.newID("thread branch")}
	begin := func(m *threading.Match) threading.Rows {
		next := slices.Clone(branches)
		return m.Begin(threading.IDs{Thread: threading.ThreadID(created), Request: threading.RequestID(request),
			Branch: func() threading.BranchID {
				id := next[0]
				next = next[1:]
				return threading.BranchID(id)
			}})
	}
	rows := map[*driver.Driver]*threading.Rows{w.a: new(begin(a)), w.b: new(begin(b))}
	wantSame(w.t, fmt.Sprintf("seed %d: what begins", w.seed), rows[w.a], rows[w.b])
	if a.Side != "" {
		if callBothError(w, "side call "+request,
			func(d *driver.Driver) error { return d.Threads.WriteThread(w.ctx, *rows[d]) }) {
			w.requests = append(w.requests, &clientRequest{a: a, b: b, talk: talk})
		}
		return
	}
	if a.Thread == threading.ThreadID(created) {
		c := scrollback.Conversation{ID: scrollback.ConversationID(created), Project: "one", Version: 1, CreatedAt: w.now,
			UpdatedAt: w.now}
		br := scrollback.Branch{ID: scrollback.BranchID(w.newID("branch")), Conversation: c.ID}
		c.Branch = br.ID
		callBoth(w, "create "+created, func(d *driver.Driver) (bool, error) {
			_, ok, err := d.Log.CreateConversation(w.ctx, c, br)
			return ok, err
		})
		w.conversations = append(w.conversations, c)
	}
	h, ok := w.readHead(scrollback.ConversationID(a.Thread))
	if !ok {
		return
	}
	to := w.leavingBranch(h.Branch, h.Branch.HeadSeq, scrollback.BranchID(w.newID("branch")))
	t := scrollback.Turn{ID: scrollback.TurnID(request), Conversation: h.ID, State: scrollback.TurnOpen,
		Owner: "owner " + request, LeaseUntil: w.now + pickOne[int64](w, 41, 401, 4001), StartedAt: w.now}
	entries := w.randomEntries(2)
	markEntries(entries, t.ID)
	_, ok = callBoth(w, "begin "+request+" of a client", func(d *driver.Driver) (driver.BeginResult, error) {
		return d.Turns.Begin(w.ctx, driver.BeginRequest{Turn: t, Now: w.now, At: &to, Entries: entries, Thread: rows[d]})
	})
	if ok {
		w.turns = append(w.turns, t)
		w.requests = append(w.requests, &clientRequest{a: a, b: b, talk: talk, turn: &t})
	}
}

// pickTalk picks what a client sends next.
func (w *randomWalk) pickTalk() *clientTalk {
	scope := pickOne(w, scopeOne, scopeOne, scopeOne, threading.Scope{Project: "two"})
	fresh := func() threading.Item {
		w.n++
		return threading.Item{Role: threading.User, Kind: threading.Text,
			Text: fmt.Sprint("Question ", w.n, " of the walk")}
	}
	if len(w.talks) == 0 || w.chance(15) {
		name := pickOne(w, "", "", fmt.Sprint("session ", w.rng.IntN(4)))
		talk := &clientTalk{scope: scope, name: name,
			items: []threading.Item{fresh()}}
		if w.chance(30) {
			talk.items[0].Text = "Hello, who are you?" // as many say
		}
		w.talks = append(w.talks, talk)
		return talk
	}
	of := pickOne(w, w.talks[max(0, len(w.talks)-4):]...)
	switch at := w.rng.IntN(100); {
	case at < 15: // once more
		return of
	case at < 60:
		of.items = append(of.items, fresh())
		return of
	case at < 75: // from an earlier place
		of.items = append(slices.Clone(of.items[:w.rng.IntN(len(of.items))]), fresh())
		return of
	case at < 85: // without the beginning
		of.items = append(slices.Clone(of.items[w.rng.IntN(len(of.items)):]), fresh())
		return of
	}
	w.n++
	fork := &clientTalk{scope: of.scope, name: fmt.Sprint("fork ", w.n), items: append(slices.Clone(of.items), fresh())}
	w.talks = append(w.talks, fork)
	return fork
}

// answerRequest ends a request that runs: with an answer, a part of one, or nothing.
func (w *randomWalk) answerRequest() {
	if len(w.requests) == 0 {
		return
	}
	at := w.rng.IntN(len(w.requests))
	r := w.requests[at]
	w.requests = slices.Delete(w.requests, at, at+1)
	w.n++
	text := fmt.Sprintf("Answer %d of the walk, long enough to be quoted by whoever writes a summary of all this.", w.n)
	answer := threading.Answer{ID: fmt.Sprint("answer ", w.n), Delivered: w.chance(80),
		State: pickOne(w, threading.Finished, threading.Finished, threading.Finished, threading.Interrupted,
			threading.Failed),
		Items: []threading.Item{{Role: threading.Assistant, Kind: threading.Text, Text: text}}}
	w.advanceClock()
	branch := threading.BranchID(w.newID("thread branch"))
	rows := map[*driver.Driver]threading.Rows{}
	for d, m := range map[*driver.Driver]*threading.Match{w.a: r.a, w.b: r.b} {
		ended, err := newMatcher(d.Threads.IndexAt(w.now)).Finish(w.ctx, m, answer, time.UnixMilli(w.now).UTC(),
			func() threading.BranchID { return branch })
		if err != nil {
			w.t.Fatal(err)
		}
		rows[d] = ended
	}
	wantSame(w.t, fmt.Sprintf("seed %d: what ends", w.seed), rows[w.a], rows[w.b])
	var ok bool
	if r.turn == nil {
		ok = callBothError(w, "end of a side call",
			func(d *driver.Driver) error { return d.Threads.WriteThread(w.ctx, rows[d]) })
	} else {
		f := driver.FinishedStep{Turn: r.turn.ID, Owner: r.turn.Owner, Now: w.now, State: scrollback.TurnComplete,
			Entries: w.randomEntries(2), LeaseUntil: w.now + 401}
		markEntries(f.Entries, r.turn.ID)
		_, ok = callBoth(w, fmt.Sprint("finish ", r.turn.ID, " of a client"),
			func(d *driver.Driver) (driver.AppendResult, error) {
				ended := rows[d]
				f := f
				f.Thread = &ended
				return d.Turns.FinishStep(w.ctx, f)
			})
	}
	if ok && answer.State == threading.Finished && len(r.talk.items) > 0 &&
		r.talk.items[len(r.talk.items)-1].Role == threading.User {
		r.talk.items = append(r.talk.items, answer.Items...)
	}
}

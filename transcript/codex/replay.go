package codex

import (
	"encoding/json"
	"math"
)

// agentTurn is one of a sub-agent's file: of its parent, which it begins with a copy of, or its own.
type agentTurn struct {
	line    int
	id      string
	said    []string // by a person
	working bool     // it has what a copy of a parent's turn leaves out
}

// findOwnTalk returns the line at which a sub-agent's own talk begins behind the copy of its parent's;
// 0 if all of the file is a copy. The ids of turns say so where they have a time in them;
// others are looked for in the parent's files, and if those are not there, the copy is known
// by what it leaves out.
func (r *sessionReader) findOwnTalk(f *rolloutFile, c *copyTracker) (int, error) {
	turns, err := r.listTurns(f, math.MaxInt64)
	if err != nil {
		return 0, err
	}
	parents, spoken, err := r.spokenTurns(c.thread)
	if err != nil {
		return 0, err
	}
	// what the rest of the file says about ids without a time
	younger := false
	shares := false
	for _, t := range turns {
		younger = younger || c.self.compareAge(t.id) > 0
		shares = shares || parents[t.id]
	}
	works := false
	for _, t := range turns {
		works = works || t.working
	}
	for i, t := range turns {
		switch age := c.self.compareAge(t.id); {
		case parents[t.id] || age < 0:
		case age > 0, shares:
			return t.line, nil
		case len(t.said) > 0 && isRepeat(t.said, spoken):
		case younger:
		case len(parents) > 0, t.working, !works && i == len(turns)-1:
			return t.line, nil
		}
	}
	return 0, nil
}

// isRepeat reports whether all that was said in a turn was said before.
func isRepeat(said []string, spoken map[string]bool) bool {
	for _, text := range said {
		if !spoken[text] {
			return false
		}
	}
	return true
}

// spokenTurns returns the turns of a thread by id, and what was said in them.
func (r *sessionReader) spokenTurns(thread string) (ids, said map[string]bool, err error) {
	ids = map[string]bool{}
	said = map[string]bool{}
	under, err := r.findFile(thread)
	if err != nil || under == nil {
		return ids, said, err
	}
	stretches, _, err := r.rolloutChain(under, math.MaxInt64, nil)
	for _, s := range stretches {
		var turns []agentTurn
		if err == nil {
			turns, err = r.listTurns(s.rolloutFile, s.end)
		}
		for _, t := range turns {
			ids[t.id] = true
			for _, text := range t.said {
				said[text] = true
			}
		}
	}
	return ids, said, err
}

// listTurns returns those of a rollout up to an ordinal.
func (r *sessionReader) listTurns(f *rolloutFile, end int64) (out []agentTurn, err error) {
	err = r.readLines(f, func(l line) bool {
		if l.ordinal >= end {
			return false
		}
		switch l.kind {
		case "event_msg":
			if e, ok := l.parseEvent(); ok && e.beginsTurn() {
				out = append(out, agentTurn{line: l.n, id: e.TurnID})
			}
		case "turn_context":
			if len(out) > 0 {
				out[len(out)-1].working = true
			}
		case "response_item":
			var it item
			if len(out) == 0 || json.Unmarshal(l.payload, &it) != nil {
				break
			}
			t := &out[len(out)-1]
			if it.Type == "message" && it.Role == "user" {
				t.said = append(t.said, joinTexts(it.Content))
			}
			t.working = t.working || it.Type != "message" || it.Role == "assistant"
		}
		return true
	})
	return out, err
}

package merge_test

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/merge"
	"github.com/scrollback-ai/scrollback/internal/merge/mergetest"
	"github.com/scrollback-ai/scrollback/internal/stamp"
	"github.com/scrollback-ai/scrollback/internal/testlength"
)

// held is a store that answers some questions wrongly.
type held struct {
	merge.Held
	stones  bool // it knows of none
	sources bool // messages are known by their ids alone
	fields  func(map[string]merge.Field) map[string]merge.Field
}

func (h held) Stone(id scrollback.ConversationID) (merge.Stone, bool) {
	if h.stones {
		return merge.Stone{}, false
	}
	return h.Held.Stone(id)
}

func (h held) Source(of scrollback.ConversationID, key scrollback.MessageID) (merge.Message, bool) {
	m, ok := h.Held.Source(of, key)
	if h.sources && m.ID != key {
		return merge.Message{}, false
	}
	return m, ok
}

func (h held) Conversation(id scrollback.ConversationID) *merge.Conversation {
	c := h.Held.Conversation(id)
	if c == nil || h.fields == nil {
		return c
	}
	out := *c
	out.Fields = h.fields(c.Fields)
	return &out
}

// after is the true merge with something done to its result.
func after(change func(*merge.Result)) func(merge.Held, merge.Set, int64) merge.Result {
	return func(h merge.Held, arrived merge.Set, now int64) merge.Result {
		result := merge.Merge(h, arrived, now)
		change(&result)
		return result
	}
}

// before is the true merge with something done to what arrives.
func before(change func(*merge.Conversation)) func(merge.Held, merge.Set, int64) merge.Result {
	return func(h merge.Held, arrived merge.Set, now int64) merge.Result {
		arrived.Conversations = slices.Clone(arrived.Conversations)
		for i := range arrived.Conversations {
			change(&arrived.Conversations[i])
		}
		return merge.Merge(h, arrived, now)
	}
}

// over is the true merge over a store that answers some questions wrongly.
func over(wrong held) func(merge.Held, merge.Set, int64) merge.Result {
	return func(h merge.Held, arrived merge.Set, now int64) merge.Result {
		wrong := wrong
		wrong.Held = h
		return merge.Merge(wrong, arrived, now)
	}
}

// mutants are wrong rules, each of which the model must find.
var mutants = map[string]func(*mergetest.Rules){
	"the field that arrives last counts": func(r *mergetest.Rules) {
		r.Merge = over(held{fields: func(map[string]merge.Field) map[string]merge.Field { return nil }})
	},
	"the field that came first counts": func(r *mergetest.Rules) {
		r.Merge = func(h merge.Held, arrived merge.Set, now int64) merge.Result {
			result := merge.Merge(h, arrived, now)
			for i := range result.Change.Conversations {
				c := &result.Change.Conversations[i]
				if here := h.Conversation(c.ID); here != nil {
					for name := range here.Fields {
						delete(c.Fields, name)
					}
				}
			}
			return result
		}
	},
	"whoever gave a title, the clock decides": func(r *mergetest.Rules) {
		r.Merge = over(held{fields: func(fields map[string]merge.Field) map[string]merge.Field {
			out := map[string]merge.Field{}
			for name, f := range fields {
				if name != stamp.FieldTitle {
					out[name] = f
				}
			}
			return out
		}})
	},
	"no bound for clocks": func(r *mergetest.Rules) {
		r.Merge = func(h merge.Held, arrived merge.Set, now int64) merge.Result {
			return merge.Merge(h, arrived, now+int64(3*365*24*3600_000))
		}
	},
	"a clock that was wrong is not mended": func(r *mergetest.Rules) {
		r.Mend = func(s stamp.Stamp, _ func(string) bool, _, _ int64) stamp.Stamp { return s }
	},
	"a purged conversation comes back": func(r *mergetest.Rules) { r.Merge = over(held{stones: true}) },
	"a purge takes what living forks use": func(r *mergetest.Rules) {
		r.Spared = func(iter.Seq[scrollback.MessageID], func(scrollback.ConversationID) bool,
			func(scrollback.MessageID) (merge.Message, scrollback.ConversationID, bool)) map[scrollback.MessageID]bool {
			return nil
		}
	},
	"a purge leaves all that a fork was made of": func(r *mergetest.Rules) {
		r.Merge = after(func(result *merge.Result) { result.Change.Stones = nil })
	},
	"of two messages at one place one is lost": func(r *mergetest.Rules) {
		r.Merge = func(h merge.Held, arrived merge.Set, now int64) merge.Result {
			at := map[scrollback.BranchID]int64{}
			for i := range arrived.Conversations {
				c := &arrived.Conversations[i]
				c.Messages = slices.DeleteFunc(slices.Clone(c.Messages), func(m merge.Message) bool {
					if at[m.Born] == m.Seq {
						return true
					}
					at[m.Born] = m.Seq
					return false
				})
			}
			return merge.Merge(h, arrived, now)
		}
	},
	"imports are known by their ids alone": func(r *mergetest.Rules) { r.Merge = over(held{sources: true}) },
	"other ids of a message are forgotten": func(r *mergetest.Rules) {
		r.Merge = after(func(result *merge.Result) {
			for i := range result.Change.Conversations {
				result.Change.Conversations[i].Aliases = nil
			}
		})
	},
	"what is not known here is dropped": func(r *mergetest.Rules) {
		r.Merge = before(func(c *merge.Conversation) { c.Unknown = nil })
	},
	"fields of newer versions are dropped": func(r *mergetest.Rules) {
		r.Merge = after(func(result *merge.Result) {
			for i := range result.Change.Conversations {
				delete(result.Change.Conversations[i].Fields, "of.a.newer.version")
			}
		})
	},
	"segments do not travel": func(r *mergetest.Rules) {
		r.Merge = before(func(c *merge.Conversation) { c.Segments = nil })
	},
	"receipts do not travel": func(r *mergetest.Rules) {
		r.Merge = before(func(c *merge.Conversation) { c.Receipts = nil })
	},
	"projects do not travel": func(r *mergetest.Rules) {
		r.Merge = after(func(result *merge.Result) { result.Change.Projects = nil })
	},
	"what a person kept last is lost": func(r *mergetest.Rules) {
		r.Merge = func(h merge.Held, arrived merge.Set, now int64) merge.Result {
			result := merge.Merge(h, arrived, now)
			for i := range result.Change.Conversations {
				c := &result.Change.Conversations[i]
				if here := h.Conversation(c.ID); here != nil && len(here.Kept) > 0 {
					c.Kept = nil
				}
			}
			return result
		}
	},
	"the trash is said of each message": func(r *mergetest.Rules) {
		r.Merge = after(func(result *merge.Result) {
			for i := range result.Change.Conversations {
				if c := &result.Change.Conversations[i]; len(c.Messages) > 0 {
					if c.Fields == nil {
						c.Fields = map[string]merge.Field{}
					}
					c.Fields[stamp.FieldTrash] = merge.Field{Value: json.RawMessage("0"), Stamp: stamp.Stamp{At: 1, By: "here"}}
				}
			}
		})
	},
	"a rewind is undone by what arrives": func(r *mergetest.Rules) {
		r.Stand = func(here merge.Place, arrived []merge.End,
			follows func(end, of scrollback.MessageID) bool) scrollback.MessageID {
			here.Rewound = false
			return merge.Stand(here, arrived, follows)
		}
	},
	"what arrives is always current": func(r *mergetest.Rules) {
		r.Stand = func(here merge.Place, arrived []merge.End,
			follows func(end, of scrollback.MessageID) bool) scrollback.MessageID {
			here.Known = false
			return merge.Stand(here, arrived, follows)
		}
	},
	"the run that came first keeps its label": func(r *mergetest.Rules) {
		r.Labels = func(c *merge.Conversation) []merge.Run {
			renamed := *c
			renamed.Messages = slices.Clone(c.Messages)
			for i := range renamed.Messages {
				renamed.Messages[i].CreatedAt = int64(i)
			}
			return merge.Labels(&renamed)
		}
	},
	"a label follows from the branch that an import found room on": func(r *mergetest.Rules) {
		r.Labels = func(c *merge.Conversation) []merge.Run {
			renamed := *c
			renamed.Messages = slices.Clone(c.Messages)
			for i := range renamed.Messages {
				if m := &renamed.Messages[i]; m.Source == m.ID {
					m.Source = ""
				}
			}
			return merge.Labels(&renamed)
		}
	},
	"of equal clocks the smaller value counts": func(r *mergetest.Rules) {
		r.Merge = func(h merge.Held, arrived merge.Set, now int64) merge.Result {
			result := merge.Merge(h, arrived, now)
			for i := range result.Change.Conversations {
				c := &result.Change.Conversations[i]
				here := h.Conversation(c.ID)
				if here == nil {
					continue
				}
				for name, f := range c.Fields { // what was taken although its clock is the same
					if other, ok := here.Fields[name]; ok && other.Stamp.At == f.Stamp.At && !bytes.Equal(other.Value, f.Value) {
						delete(c.Fields, name)
					}
				}
			}
			return result
		}
	},
}

// The model finds wrong rules.
func TestModelFindsMutants(t *testing.T) {
	for name, mutate := range mutants {
		t.Run(name, func(t *testing.T) {
			rules := mergetest.TrueRules()
			mutate(&rules)
			for seed := range uint64(testlength.Choose(60, 200, 400)) {
				if _, err := mergetest.Run(seed+1, 400, rules); err != nil {
					t.Logf("seed %d: %.300s", seed+1, err.Error())
					return
				}
			}
			t.Error("the model does not find it")
		})
	}
}

package merge

import (
	"encoding/json"
	"slices"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/stamp"
)

// Set is what one store hands to another: records that are missing there, or all that it has. A conversation in it may
// hold only some of its records.
type Set struct {
	Conversations []Conversation             `json:"conversations,omitempty"`
	Projects      []Project                  `json:"projects,omitempty"`
	Stones        []Stone                    `json:"stones,omitempty"`
	Unknown       map[string]json.RawMessage `json:"unknown,omitempty"` // of a newer version: carried on as they came
}

// Conversation is what travels of a conversation. Messages name each other by their ids, never by a branch and a seq,
// and so do segments, receipts, pins and branches: stores that number branches differently agree. All JSON in it is
// compact, and of a field without a value, or with the empty one that nobody has stamped, there is no entry.
//
// Of a conversation that was purged only Messages, Segments, Kept and Mentions remain, and of those only what the
// paths of living forks use.
type Conversation struct {
	ID          scrollback.ConversationID  `json:"id"`
	CreatedAt   int64                      `json:"created_at,omitempty"` // Unix ms; the smallest counts
	Environment json.RawMessage            `json:"environment,omitempty"`
	AgentOf     json.RawMessage            `json:"agent_of,omitempty"`
	Parent      *Parent                    `json:"parent,omitempty"`
	Fields      map[string]Field           `json:"fields,omitempty"`
	Branches    []Branch                   `json:"branches,omitempty"`
	Messages    []Message                  `json:"messages,omitempty"` // each behind the one before it
	Aliases     []Alias                    `json:"aliases,omitempty"`
	Segments    []Segment                  `json:"segments,omitempty"` // children before their roll-ups
	Receipts    []Receipt                  `json:"receipts,omitempty"`
	Kept        []Kept                     `json:"kept,omitempty"`
	Mentions    []Mention                  `json:"mentions,omitempty"`
	Origins     []Origin                   `json:"origins,omitempty"`
	Views       []View                     `json:"views,omitempty"`
	Unknown     map[string]json.RawMessage `json:"unknown,omitempty"`
}

// NameByKeys makes of the ids by which records name messages the keys of those, as they travel: the other store may
// have the messages under other ids. The lists of c are replaced, not changed.
func (c *Conversation) NameByKeys(keys Keys) {
	if c.Parent != nil {
		c.Parent = &Parent{c.Parent.Conversation, keys(c.Parent.Message)}
	}
	fields := c.Fields
	c.Fields = nil
	for name, f := range fields {
		set(&c.Fields, fieldKey(name, keys), f)
	}
	c.Branches = slices.Clone(c.Branches)
	for i := range c.Branches {
		c.Branches[i].Leaves = keys(c.Branches[i].Leaves)
	}
	c.Messages = slices.Clone(c.Messages)
	for i := range c.Messages {
		c.Messages[i].Prev = keys(c.Messages[i].Prev)
	}
	c.Segments = slices.Clone(c.Segments)
	for i := range c.Segments {
		at := &c.Segments[i]
		at.First = keys(at.First)
		at.Last = keys(at.Last)
		at.SummaryOf = keys(at.SummaryOf)
	}
	c.Receipts = slices.Clone(c.Receipts)
	for i := range c.Receipts {
		c.Receipts[i].First = keys(c.Receipts[i].First)
		c.Receipts[i].Last = keys(c.Receipts[i].Last)
	}
	c.Kept = slices.Clone(c.Kept)
	for i := range c.Kept {
		c.Kept[i].Message = keys(c.Kept[i].Message)
	}
	c.Views = slices.Clone(c.Views)
	for i := range c.Views {
		c.Views[i].Head = keys(c.Views[i].Head)
	}
}

// Parent is the message at which a fork left another conversation.
type Parent struct {
	Conversation scrollback.ConversationID `json:"conversation"`
	Message      scrollback.MessageID      `json:"message"`
}

// Field is one thing of a conversation or a project that people and tools change, with the clock of its newest change.
// Its name is title, project, instructions, model, policy, trash, settings.KEY, meta.KEY or pin.MESSAGE; of a project
// title, instructions, model, policy, settings.KEY or deleted. Names of newer versions are carried on.
//
// The value of a title is a [Title], that of trash the time in Unix ms or 0, and that of a pin true or false.
type Field struct {
	Value json.RawMessage `json:"value"`
	stamp.Stamp
}

// Title is the value of the field of that name. By is what the conversation has as TitleBy.
type Title struct {
	Title string                `json:"title"`
	By    scrollback.TitleState `json:"by,omitempty"`
}

// Branch is the first branch of a conversation, which travels with or without messages. Leaves is the message it goes
// on from, empty at the beginning. All other branches are what their messages say of them (see [Labels]).
type Branch struct {
	ID     scrollback.BranchID  `json:"id"`
	Leaves scrollback.MessageID `json:"at,omitempty"`
}

// Message is what travels of a message. Hash is of what it says: role, name, parts, model, status and time, without ids
// and meta, so that two imports of one message have the same. Born is the branch that it was written to, Seq its place
// on its path, and Prev the message before it there, empty at seq 1; that may be a message of another conversation,
// which this one continues.
//
// Source is, of an imported message, the id that follows from its source; where that is its own id, it may be left out.
// It may have another, as all had before ids followed from their sources: Source is what makes it one with the same
// message of another store. Content is the message itself: of an inventory, and of what is held, it is empty.
type Message struct {
	ID        scrollback.MessageID    `json:"id"`
	Hash      Hash                    `json:"hash"`
	Born      scrollback.BranchID     `json:"born"`
	Seq       int64                   `json:"seq"`
	Prev      scrollback.MessageID    `json:"prev,omitempty"`
	Source    scrollback.MessageID    `json:"source,omitempty"`
	CreatedAt int64                   `json:"created_at"` // Unix ms
	Artifacts []scrollback.ArtifactID `json:"artifacts,omitempty"`
	Content   json.RawMessage         `json:"content,omitempty"`
}

// Alias says that an id names the message whose key is Of: it was imported under that id before ids followed from their
// sources, here or elsewhere. Of all ids of a message the smallest is the one that is shown.
type Alias struct {
	ID scrollback.MessageID `json:"id"`
	Of scrollback.MessageID `json:"of"`
}

// Segment is what travels of a segment. First, Last and SummaryOf are the messages that its FirstSeq, LastSeq and
// SummaryOf stand for; in Segment those, its conversation and its branch are left empty.
type Segment struct {
	First     scrollback.MessageID `json:"first"`
	Last      scrollback.MessageID `json:"last"`
	SummaryOf scrollback.MessageID `json:"summary_of,omitempty"`
	Segment   scrollback.Segment   `json:"segment"`
}

// Receipt is what travels of a receipt. First and Last are the messages that bound what it folded; without them
// Branch says which one it is of. Of Receipt, the seqs, Archive, Undone, Redo and Cost are left empty. Before and
// Folded are what undoing it shows again; they are no part of a digest.
type Receipt struct {
	Branch  scrollback.BranchID  `json:"branch,omitempty"`
	First   scrollback.MessageID `json:"first,omitempty"`
	Last    scrollback.MessageID `json:"last,omitempty"`
	Receipt scrollback.Receipt   `json:"receipt"`
	Before  scrollback.View      `json:"before,omitzero"`
	Folded  bool                 `json:"folded,omitempty"`
}

// View is what a store shows of a branch whose newest message is Head: a store that gets the branch shows the same at
// first. It travels, and is no part of a digest: from then on each store has its own. What was left out by hand is not
// in it.
type View struct {
	Head scrollback.MessageID `json:"head"`
	View scrollback.View      `json:"view"`
}

// Kept is the newest that a person said about a sentence: kept, dropped or ticked off. What a rule finds is found by
// each store itself. Change is the id of its row.
type Kept struct {
	ID        scrollback.KeptID    `json:"id"`
	Change    string               `json:"change"`
	Message   scrollback.MessageID `json:"message"`
	Role      scrollback.Role      `json:"role"`
	Kind      scrollback.KeptKind  `json:"kind"`
	Text      string               `json:"text"`
	State     scrollback.KeptState `json:"state"`
	CreatedAt int64                `json:"created_at"` // Unix ms
	stamp.Stamp
}

// Mention says that a conversation mentions an artifact, and so may resolve it.
type Mention struct {
	Artifact  scrollback.ArtifactID `json:"artifact"`
	Name      string                `json:"name,omitempty"`
	MediaType string                `json:"media_type,omitempty"`
	Size      int64                 `json:"size,omitempty"`
	CreatedAt int64                 `json:"created_at"` // Unix ms
}

// Origin is what another tool calls a conversation. It travels, and is no part of a digest: where that tool keeps it is
// each machine's own.
type Origin struct {
	Tool   string `json:"tool"`
	ID     string `json:"id"`
	Root   string `json:"root,omitempty"`
	Folder string `json:"folder,omitempty"` // of a repository: what stands for it on every machine
	Shared bool   `json:"shared,omitempty"`
}

// Project is what is stored of a project.
type Project struct {
	Name    string                     `json:"name"`
	Fields  map[string]Field           `json:"fields,omitempty"`
	Unknown map[string]json.RawMessage `json:"unknown,omitempty"`
}

// Stone is what is left of a conversation that was purged. Origins are the marks of what other tools called it.
type Stone struct {
	ID      scrollback.ConversationID `json:"id"`
	Project string                    `json:"project"`
	stamp.Stamp
	Origins []string                   `json:"origins,omitempty"`
	Unknown map[string]json.RawMessage `json:"unknown,omitempty"`
}

// Held is what a store holds, as far as a merge asks for it. Messages are without their content; an id may be an alias.
type Held interface {
	// Conversation returns all of a conversation but its messages and aliases, or nil.
	Conversation(id scrollback.ConversationID) *Conversation
	// Message returns a message by its id, by another id of it or by its key, with the conversation that it belongs to.
	Message(id scrollback.MessageID) (Message, scrollback.ConversationID, bool)
	// Source returns the message of a conversation whose key is that: its Source, or its id without one.
	Source(of scrollback.ConversationID, key scrollback.MessageID) (Message, bool)
	// Stone returns the stone of a conversation.
	Stone(id scrollback.ConversationID) (Stone, bool)
	// Project returns what is stored of a project, or nil.
	Project(name string) *Project
	// Unknown returns what a store carries on of records of a newer version.
	Unknown(name string) json.RawMessage
}

// Result is what a merge comes to. Change has what the store does not hold yet, or holds with an older stamp: written
// to what is held, it makes the merged state. Messages in it follow the ones before them.
//
// Ended are conversations that are held here and that a stone of Change ends: all of their messages go, but those
// that the paths of living forks use (see [Spared]).
type Result struct {
	Change  Set
	Ended   []scrollback.ConversationID
	Waiting []Waiting
	Refused []Refused
}

// Waiting is a record that cannot be written yet, because it names a message that has not arrived.
type Waiting struct {
	Conversation scrollback.ConversationID `json:"conversation"`
	Record       string                    `json:"record"` // its kind and id
	For          scrollback.MessageID      `json:"for"`
}

// Refused is a record that was left out, and why: its stamp is too far ahead of the wall clock Now, or (without Now) it
// says something else than what is held under its id, or does not fit to what it names.
type Refused struct {
	Conversation scrollback.ConversationID `json:"conversation,omitempty"`
	Project      string                    `json:"project,omitempty"`
	Record       string                    `json:"record"` // its kind and id, or the name of the field
	Stamp        stamp.Stamp               `json:"stamp,omitzero"`
	Now          int64                     `json:"now,omitempty"` // Unix ms
}

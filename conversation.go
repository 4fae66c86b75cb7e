package scrollback

import (
	"cmp"
	"encoding/json"
	"slices"
)

// DefaultProject is the project of a conversation that names none.
const DefaultProject = "default"

// Conversation is a stored thread and its settings.
//
// Version grows with every commit. Branch is the current one; Messages counts
// those on its path, so it is also the newest seq. Times are Unix ms. Limit is
// the model's window in tokens; 0 leaves it to the configuration and catalog.
type Conversation struct {
	ID           ConversationID  `json:"id"`
	Project      string          `json:"project"`
	Title        string          `json:"title"`
	Model        string          `json:"model"`
	Instructions string          `json:"instructions"`
	Policy       string          `json:"policy"`
	Limit        int             `json:"limit"`
	Roots        []string        `json:"roots"`
	Settings     Settings        `json:"settings"`
	Version      int64           `json:"version"`
	Branch       BranchID        `json:"branch"`
	Messages     int64           `json:"messages"`
	CreatedAt    int64           `json:"created_at"`
	UpdatedAt    int64           `json:"updated_at"`
	Parent       *ParentRef      `json:"parent,omitempty"`
	AgentOf      *AgentRef       `json:"agent_of,omitempty"`
	PinnedSeqs   []int64         `json:"pinned_seqs"`
	DeletedAt    int64           `json:"deleted_at,omitempty"`
	Meta         json.RawMessage `json:"meta"`

	// Ancestors are the conversations whose messages a fork may inherit, nearest
	// first. PurgedAt is not 0 if only what others inherit is left of the
	// conversation, and negative while the rest is being removed; only an audit
	// sees such conversations. Both stay inside the store.
	Ancestors []ConversationID `json:"-"`
	PurgedAt  int64            `json:"-"`

	// TitleBy says whether a model may still replace the title. It stays inside the store.
	TitleBy TitleState `json:"-"`

	// Environment is what the model is told about where it works; nil until the
	// conversation first needs it.
	Environment *Environment `json:"-"`
}

// PinsMax is how many messages of a conversation can be pinned.
const PinsMax = 20

// How far the look-ups of a conversation's model may reach.
const (
	ScopeConversation = "conversation"
	ScopeProject      = "project"
	ScopeAll          = "all"
)

// Settings control how a conversation is run.
type Settings struct {
	Pinned bool   `json:"pinned,omitempty"`
	Tools  []Tool `json:"tools,omitempty"` // sent by the client; kept from request to request
	// RecallScope is how far the model's own look-ups may reach: conversation (the default,
	// with what it inherits), project or all.
	RecallScope string `json:"recall_scope,omitempty"`
	// Keep is how far what is kept of people's words goes: conversation (the default), or project: a new
	// conversation then begins with the traits and instructions that its caller said in others of its project.
	Keep string `json:"keep,omitempty"`
	// Door is how requests of clients of other APIs are answered: faithful, window or record. Only a project has it.
	Door string `json:"door,omitempty"`
	// Compaction replaces numbers of the policy, by the names in the guide to compaction.
	Compaction map[string]float64 `json:"compaction,omitempty"`
	// How much its model thinks, unless a request says otherwise: an effort, whether to
	// think at all, and a budget in tokens.
	ReasoningEffort string `json:"reasoning_effort,omitempty"`
	Thinking        *bool  `json:"thinking,omitempty"`
	ThinkingBudget  int64  `json:"thinking_budget,omitempty"`
	// Agents lets its model start sub-agents.
	Agents bool `json:"agents,omitempty"`
	// ArchiveOnCompact writes a full copy after each compaction.
	ArchiveOnCompact bool `json:"archive_on_compact,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler. It also reads folding, the old name of
// compaction, which counts where the new one is missing.
func (s *Settings) UnmarshalJSON(b []byte) error {
	type fields Settings // without this method
	read := struct {
		*fields
		Compaction *map[string]float64 `json:"compaction"`
		Folding    *map[string]float64 `json:"folding"`
	}{fields: (*fields)(s)}
	if err := json.Unmarshal(b, &read); err != nil {
		return err
	}
	if given := cmp.Or(read.Compaction, read.Folding); given != nil {
		s.Compaction = *given
	}
	return nil
}

// ModelThinking returns how much the model of a conversation should think.
func (s Settings) ModelThinking() Thinking {
	return Thinking{Effort: s.ReasoningEffort, On: s.Thinking, Budget: s.ThinkingBudget}
}

// ParentRef is where a fork left its parent.
type ParentRef struct {
	ID     ConversationID `json:"id"`
	Branch BranchID       `json:"branch"`
	Seq    int64          `json:"seq"`
}

// AgentRef is where a sub-agent was started: by the call of a turn of the conversation it
// works for.
type AgentRef struct {
	ID     ConversationID `json:"id"`
	TurnID TurnID         `json:"turn_id,omitempty"`
	CallID string         `json:"call_id,omitempty"`
}

// Branch is one line of a conversation. It continues Parent, the branch that owns
// message AtSeq (no parent with 0), so its first own message has seq AtSeq+1.
type Branch struct {
	ID           BranchID       `json:"id"`
	Conversation ConversationID `json:"conversation_id"`
	Parent       BranchID       `json:"parent_branch,omitempty"`
	AtSeq        int64          `json:"at_seq"`
	HeadSeq      int64          `json:"head_seq"`
	UpdatedAt    int64          `json:"updated_at"`
	Sum          Weight         `json:"-"` // of everything on the path up to HeadSeq
	View         View           `json:"-"`
	ViewVersion  int64          `json:"-"` // grows with each change of View
	// Elsewhere says that another writes it: another store, or the tool whose file it was read from. What is said
	// here behind it begins a branch of its own. No copy of the conversation takes it along.
	Elsewhere bool `json:"-"`
}

// LiveWeight returns the weight of the messages on the path that are not folded.
func (b *Branch) LiveWeight() Weight { return b.Sum.Sub(b.View.Sum) }

// BranchEntry is a branch in a list. Messages counts its own; UpdatedAt is Unix ms.
type BranchEntry struct {
	ID        BranchID `json:"id"`
	Parent    BranchID `json:"parent,omitempty"`
	AtSeq     int64    `json:"at_seq"`
	HeadSeq   int64    `json:"head_seq"`
	Messages  int64    `json:"messages"`
	UpdatedAt int64    `json:"updated_at"`
	Current   bool     `json:"current"`
	Without   []int64  `json:"without,omitempty"` // see [View]
	// Joined are the branches that it goes on from at their ends, where nothing else does: each has one writer, and
	// people see them as one with it. AtSeq, Parent and Messages are those of all.
	Joined []BranchID `json:"joined,omitempty"`
}

// View is what a branch's window shows instead of its oldest messages: those up
// to Boundary are behind Segments, oldest first, except that those in Carried
// are still shown verbatim. Sum is the weight of what is hidden. No view touches
// the log itself.
type View struct {
	Boundary int64      `json:"boundary"`
	Head     int64      `json:"head,omitempty"` // the newest message at the last fold
	Sum      Weight     `json:"sum"`
	Segments []ViewItem `json:"segments,omitempty"`
	Carried  []int64    `json:"carried,omitempty"`
	// RetryAt is the live weight in tokens from which an extractive fold is worth
	// trying again after one that would not have shrunk the window; 0 means at once.
	RetryAt int64 `json:"retry_at,omitempty"`
	// Summary is the summary shown before the segments; nil when no model has
	// written one.
	Summary *ViewSummary `json:"summary,omitempty"`
	// Language is that of the words around what is folded (en, zh, ja or ko); empty for English.
	Language string `json:"language,omitempty"`
	// Said are lines that a window does not show because something before them says the same: of
	// the summary, then of each segment. Nil is not compared yet.
	Said [][]int `json:"said,omitempty"`
	// Failures counts the calls for a summary that failed in a row. Once there are as many
	// as the policy tolerates, no model is asked until the path weighs AskAt tokens.
	Failures int   `json:"failures,omitempty"`
	AskAt    int64 `json:"ask_at,omitempty"`
	// Without are the seqs, ascending, of messages on the path that requests leave out
	// because a person asked for it: a call is there with its results, and a result with
	// its call. Neither a fold nor its undoing changes it.
	Without []int64 `json:"without,omitempty"`
}

// LeavesOut reports whether requests leave out a message.
func (v View) LeavesOut(seq int64) bool {
	_, found := slices.BinarySearch(v.Without, seq)
	return found
}

// WithLeftOut returns v with other messages left out.
func (v View) WithLeftOut(without []int64) View {
	v.Without = nil
	if len(without) > 0 {
		v.Without = without
	}
	return v
}

// WithFailuresOf returns v with the failed attempts that o remembers, and nothing else of o.
func (v View) WithFailuresOf(o View) View {
	v.RetryAt = o.RetryAt
	v.Failures = o.Failures
	v.AskAt = o.AskAt
	return v
}

// ViewSummary places the summary that a segment carries: it covers the
// messages from FirstSeq to LastSeq and weighs Tokens.
type ViewSummary struct {
	Segment  SegmentID `json:"segment"`
	FirstSeq int64     `json:"first_seq"`
	LastSeq  int64     `json:"last_seq"`
	Tokens   int64     `json:"tokens"`
	// Without are the messages that were left out when it was written, and of which it
	// therefore says nothing.
	Without []int64 `json:"without,omitempty"`
}

// ViewItem places one segment, leaf or roll-up, in a view.
type ViewItem struct {
	ID       SegmentID `json:"id"`
	FirstSeq int64     `json:"first_seq"`
	LastSeq  int64     `json:"last_seq"`
	Level    int       `json:"level"` // 0 for a leaf
}

// Project groups conversations: it exists while one of them names it, or while it is
// stored. What is stored of it holds for those of its conversations that say nothing else
// themselves; its instructions stand before theirs. Version grows with every change and is
// 0 if nothing is stored. A list leaves out everything from Instructions to Budget.
type Project struct {
	Name          string       `json:"name"`
	Conversations int64        `json:"conversations"` // that are not in the trash
	Title         string       `json:"title"`
	Instructions  string       `json:"instructions,omitempty"`
	Model         string       `json:"model,omitempty"`
	Policy        string       `json:"policy,omitempty"`
	Limit         int          `json:"limit,omitempty"` // window of the model, in tokens
	Settings      Settings     `json:"settings,omitzero"`
	Budget        *DailyBudget `json:"budget,omitempty"`
	Version       int64        `json:"version"`
	CreatedAt     int64        `json:"created_at,omitempty"`
	UpdatedAt     int64        `json:"updated_at,omitempty"`
}

// DailyBudget bounds what calls of models may use in a day (UTC); 0 is no bound.
type DailyBudget struct {
	TokensPerDay int64   `json:"tokens_per_day,omitempty"`
	MoneyPerDay  float64 `json:"money_per_day,omitempty"`
	Currency     string  `json:"currency,omitempty"` // of the money, such as USD
}

// Inherited lists what a request takes from the project of its conversation, because
// neither it nor the conversation says anything else.
type Inherited struct {
	From     string   `json:"from"`               // "project NAME"
	Tokens   int64    `json:"tokens"`             // of its instructions
	Settings []string `json:"settings,omitempty"` // their names
}

// TitleState tells where the title of a conversation comes from.
type TitleState string

const (
	TitleGiven  TitleState = ""       // by a person or a file, or there is none; it stays
	TitleTool   TitleState = "tool"   // by the tool that it was brought from, whose later titles replace it
	TitlePrompt TitleState = "prompt" // made from the first prompt, until a model is asked
	TitleAsked  TitleState = "asked"  // the same, and a model has been asked; none is asked again
	TitleModel  TitleState = "model"  // by a model
)

// OriginRepository is the tool of an origin that is no tool's: its folder stands for the repository that the
// conversation was held in, which has other folders on other machines.
const OriginRepository = "repository"

// Origin is where an imported conversation comes from: what another tool calls it, and
// where that keeps it. One conversation may have several, where a tool's copies of it share
// all messages. Times are Unix ms.
type Origin struct {
	Tool         string         `json:"tool"`
	ID           string         `json:"id"` // what the tool calls it
	Conversation ConversationID `json:"conversation_id"`
	Root         string         `json:"root,omitempty"`       // what the tool calls its first message
	Folder       string         `json:"folder,omitempty"`     // that was worked in, absolute
	GitBranch    string         `json:"git_branch,omitempty"` // the newest one there
	Place        string         `json:"place,omitempty"`      // the folder or file that the tool keeps it in
	Name         string         `json:"name,omitempty"`       // of the session in the place
	// of the session when all of it was here; empty: to be read again
	Stamp      string `json:"stamp,omitempty"`
	Shared     bool   `json:"shared,omitempty"` // it has no message of its own
	ImportedAt int64  `json:"imported_at"`
	GoneAt     int64  `json:"gone_at,omitempty"` // when the place no longer had it
}

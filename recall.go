package scrollback

import "time"

// RecallPrefix begins the names of the recall tools; no client's tool may.
const RecallPrefix = "context_"

// Bounds and defaults of the recall operations, the same for the model, HTTP and
// the command line.
const (
	ReadDefault    = 8192     // bytes
	ReadMax        = 64 << 10 // bytes
	TailDefault    = 200      // lines
	TailMax        = 2000
	GrepDefault    = 50 // matches returned; the total counts all
	GrepMax        = 200
	GrepContextMax = 20   // lines around a match
	PatternMax     = 1000 // characters of a pattern
	SearchDefault  = 20
	SearchMax      = 50  // for the model
	SearchMaxHTTP  = 100 // for people
	SearchDepth    = 300 // messages that are ranked, over all pages
	SearchNear     = 3   // hits that come with neighbours
	AroundDefault  = 1   // neighbours of a hit
	AroundMax      = 5
	ListDefault    = 50
	ListMax        = 200
	HitContentMax  = 4000 // characters of a hit's content
	ShapeDefault   = 240  // bins of a shape
	ShapeMax       = 600
)

// Page is a stretch of what a ref points at. Offsets and Bytes (the whole) are
// bytes; pages end between characters and join to the exact original.
type Page struct {
	Ref        Ref    `json:"ref"`
	Offset     int64  `json:"offset"`
	NextOffset int64  `json:"next_offset"`
	Done       bool   `json:"done"`
	Content    string `json:"content"`
	Bytes      int64  `json:"bytes"`
}

// Tail is the last Lines lines of what a ref points at.
type Tail struct {
	Ref     Ref    `json:"ref"`
	Lines   int    `json:"lines"`
	Content string `json:"content"`
}

// GrepQuery looks for Pattern (RE2). Ref empty means the whole conversation.
// MaxResults 0 means GrepDefault.
type GrepQuery struct {
	Ref           Ref    `json:"ref,omitempty"`
	Pattern       string `json:"pattern"`
	MaxResults    int    `json:"max_results,omitempty"`
	ContextLines  int    `json:"context_lines,omitempty"`
	CaseSensitive bool   `json:"case_sensitive,omitempty"`
}

// GrepResult holds the first matches in the order of the log and the true total,
// unless some of it could not be searched (Partial): time ran out, a line was endless,
// or the bytes of artifacts are gone or changed; Unread names the first of those.
type GrepResult struct {
	Total   int64       `json:"total"`
	Partial bool        `json:"partial,omitempty"`
	Unread  []Ref       `json:"unread,omitempty"`
	Matches []GrepMatch `json:"matches"`
}

// GrepMatch is one matching line. Line counts from 1 within what Ref points at,
// or within the message Seq when the message is not folded (Ref nil). Seq is the message
// that holds or mentions the line. Leaf is the segment of that message when the ref that
// was looked through is a roll-up.
type GrepMatch struct {
	Ref     *Ref     `json:"ref"`
	Seq     int64    `json:"seq,omitempty"`
	Leaf    *Ref     `json:"leaf,omitempty"`
	Line    int      `json:"line"`
	Content string   `json:"content"`
	Before  []string `json:"before,omitempty"`
	After   []string `json:"after,omitempty"`
}

// The orders of a search's hits.
const (
	OrderRelevance = "relevance" // the best first; also what an empty order means
	OrderTime      = "time"      // the same hits, the oldest first
)

// SearchQuery finds messages by words. A Query may also narrow by role:user,
// after:2026-03-01, before:2026-04 and on:2026-03-05 (days in Zone, nil for
// UTC), unless they are quoted. Conversation, Project, Role, From and To narrow it too; Limit 0 means
// SearchDefault; Around is how many neighbours on each side of the first SearchNear hits;
// Order is OrderRelevance or OrderTime, by which each page is ordered. Offset begins at a
// later page, as Next says. Folders puts first what was said where work was in one of them or
// below; InFolders leaves out the rest. A hit's content is Passage characters (0: its share of
// 2,000 tokens), those that match best.
type SearchQuery struct {
	Query        string
	Conversation ConversationID
	Project      string
	Projects     []string // look only in these; nil for no such bound
	Role         Role
	From, To     int64 // Unix ms: from From on, and before To; 0 for no such bound
	Limit        int
	Offset       int
	Around       int
	Order        string
	Passage      int
	Agents       []ConversationID // with Conversation: its sub-agents, whose messages count as its own
	Folders      []string         // absolute; they do not count with Conversation
	InFolders    bool
	Zone         *time.Location
	Except       []MessageID // leave these out, as hits and as neighbours
}

// SearchResult is the best hits, best first. Truncated says that more messages
// matched than were considered; if all were, Total says how many there are, and
// Conversations in how many. Next is the offset of the next page, or nil. Indexed is the
// share of the log that the index has, nil for all of it: the rest was read instead, the newest first.
type SearchResult struct {
	Hits          []Hit    `json:"hits"`
	Truncated     bool     `json:"truncated,omitempty"`
	Total         int      `json:"total,omitempty"`
	Conversations int      `json:"conversations,omitempty"`
	Next          *int     `json:"next"`
	Indexed       *float64 `json:"indexed,omitempty" minimum:"0" maximum:"1"`
}

// Hit is a message that matched. Snippet is an excerpt of the message, and Spans the
// [from, to) character (code point) ranges of Snippet that matched. OnPath says
// that the message is on its conversation's current path; else Branch has it. Ref is where to read it if
// it is folded, and Card what stands for it in the window. Pinned says that the window
// carries it in any case; Inside, that the words are in a file or a result that the
// message holds, not in what is said.
type Hit struct {
	ConversationID ConversationID `json:"conversation_id"`
	Seq            int64          `json:"seq"`
	MessageID      MessageID      `json:"message_id"`
	Role           Role           `json:"role"`
	CreatedAt      int64          `json:"created_at"`
	Content        string         `json:"content"`
	Snippet        string         `json:"snippet"`
	Spans          [][2]int       `json:"spans"`
	Score          float64        `json:"score"`
	OnPath         bool           `json:"on_path"`
	Branch         BranchID       `json:"branch,omitempty"`
	Ref            *Ref           `json:"ref,omitempty"`
	Card           *Card          `json:"card,omitempty"`
	Pinned         bool           `json:"pinned,omitempty"`
	Inside         bool           `json:"inside,omitempty"`
	Origin         *Origin        `json:"origin,omitempty"` // of an imported conversation
	Before         []Message      `json:"before,omitempty"`
	After          []Message      `json:"after,omitempty"`
}

// Card is what stands for a run of messages in the window: since when, in Unix ms.
type Card struct {
	FirstSeq int64 `json:"first_seq"`
	LastSeq  int64 `json:"last_seq"`
	Since    int64 `json:"since"`
}

// ListQuery pages through conversations, newest change first. Cursors are opaque. With
// AgentOf it lists the sub-agents of these conversations; without, sub-agents are listed
// only in the trash. Pinned lists those whose settings say so, and nothing else.
type ListQuery struct {
	Project, Title string
	Pinned         bool
	Projects       []string // only of these; nil for no such bound
	AgentOf        []ConversationID
	Trash          bool
	Cursor         string
	Limit          int // 0 means 50, at most 200
}

// PageQuery pages through a path by seq: those After (0 for the first), or the
// newest Before, or with neither the newest of all; with both, those between. Messages
// come ascending.
type PageQuery struct {
	Branch BranchID // empty: the current one
	After  *int64
	Before int64
	Limit  int // 0 means 50, at most 200
}

// RefQuery pages through the refs of a conversation, newest first.
type RefQuery struct {
	Kind   string // empty: all
	Cursor string
	Limit  int // 0 means 50, at most 200
}

// Shape is the whole of a path at a glance, in bins of equally many messages. From and To
// are when the first and the last of them were stored, in Unix ms.
type Shape struct {
	HeadSeq int64      `json:"head_seq"`
	From    int64      `json:"from"`
	To      int64      `json:"to"`
	Bins    []ShapeBin `json:"bins"`
}

// ShapeBin is a run of messages: when the first was stored, what all of them weigh in
// bytes, and how many are of a role.
type ShapeBin struct {
	FirstSeq  int64 `json:"first_seq"`
	LastSeq   int64 `json:"last_seq"`
	At        int64 `json:"at"`
	Bytes     int64 `json:"bytes"`
	User      int   `json:"user"`
	Assistant int   `json:"assistant"`
}

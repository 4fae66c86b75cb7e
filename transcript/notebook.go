package transcript

import (
	"encoding/json"

	"github.com/scrollback-ai/scrollback"
)

// Cell is one cell of a notebook, as a conversation sees it: what is asked or said in it,
// and what came of it.
type Cell struct {
	ID     string          // as the file names it, or empty
	Markup bool            // Markdown, not to be run
	Role   scrollback.Role // who speaks; user unless the cell says otherwise
	Text   string          // with its image marks; attachment:NAME is the image of that Name

	References scrollback.Parts // what other marks named when it was run: texts with a Reference

	// Interaction is what the model and its tools said to the cell, each with its own Bytes. In
	// a cell of role assistant it is all of what Text shows; where it is empty, Text is all.
	Interaction []Entry
	Images      []scrollback.Image
	Bytes       map[int][]byte // of Images, by index
	Stale       bool           // what stood above it was changed or run again after it was
}

// Tie is what a notebook says of itself.
type Tie struct {
	ID           string                    // of the notebook, as its own format names it; foreign, and any text
	Conversation scrollback.ConversationID // that it was last run in, or empty
	Title        string
	Model        string
	Instructions string   // of the file itself, beside the system cells
	Roots        []string // folders or file: addresses that the file asks for; they grant nothing
	AgentOf      string   // the notebook that it is a sub-agent of, or empty
	Agents       []string // sub-agents that it started
	Meta         json.RawMessage
}

// Notebook is an open file of cells. What it does not understand stays as it was, byte for
// byte, and Bytes returns the file unchanged until something is set.
type Notebook interface {
	Tie() Tie
	Cells() []Cell
	SetTie(t Tie) error // the conversation, the title and the agents; the rest is the file's own
	// SetInteraction may begin with the cell's own message, of role user: its references and
	// what else the file cannot say of it are kept with the cell, whose text stays.
	SetInteraction(cell int, said []Entry) error
	SetStale(cell int, stale bool) error
	Append(c Cell) (cell int, err error) // as the last cell
	Bytes() []byte
}

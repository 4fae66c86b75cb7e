package driver

// AliasKind is what an alias is of.
type AliasKind string

// The kinds of aliases.
const (
	AliasConversation AliasKind = "conversation"
	AliasBranch       AliasKind = "branch"
	AliasMessage      AliasKind = "message"
	AliasTurn         AliasKind = "turn"
	AliasSegment      AliasKind = "segment"
)

// Alias is an id that was given up, because what it names has another one too, which is shown now.
type Alias struct {
	Kind    AliasKind
	ID, Now string
}

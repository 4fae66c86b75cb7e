package merge

import "github.com/scrollback-ai/scrollback"

// Prefix is a place in the tree of digests: the first bytes, in hex, of the hashes of the ids of the conversations
// below it.
type Prefix string

// Level is what is below a prefix: nodes, or the conversations themselves where they are at most [LeafSize].
type Level struct {
	Nodes         []Node    `json:"nodes,omitempty"`
	Conversations []Summary `json:"conversations,omitempty"` // by id
}

// Node is the sum of the conversations below a prefix, and how many they are.
type Node struct {
	Prefix Prefix `json:"prefix"`
	Count  int    `json:"count"`
	Sum    Sum    `json:"sum"`
}

// Summary is a conversation, or the stone of one, with its digest.
type Summary struct {
	ID     scrollback.ConversationID `json:"id"`
	Digest Hash                      `json:"digest"`
}

// LeafSize is how many conversations a level lists by themselves.
const LeafSize = 256

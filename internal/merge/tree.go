package merge

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
)

// Prefix is a place in the tree of digests: the first bytes, in hex, of the hashes of the ids of the conversations
// below it.
type Prefix string

// Level is what is below a prefix: nodes, or the conversations themselves where they are at most [LeafSize].
type Level struct {
	Nodes         []Node    `json:"nodes,omitempty"`         // by prefix
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

// Tree is the digests of a store's conversations, in a form that two stores can compare from the top down: each node
// has one below it for each next byte of the hashes of the ids, so that what differs is found by a few levels of at
// most 256 nodes, however many conversations there are.
type Tree struct {
	head    Head
	entries []treeEntry // by path
}

// treeEntry is a conversation with the hash of its id.
type treeEntry struct {
	path string
	Summary
}

// NewTree makes a tree of the digests of all conversations, in any order.
func NewTree(all []Summary) *Tree {
	t := &Tree{entries: make([]treeEntry, 0, len(all))}
	for _, s := range all {
		path := sha256.Sum256([]byte(s.ID))
		t.entries = append(t.entries, treeEntry{hex.EncodeToString(path[:]), s})
		t.head.Conversations = t.head.Conversations.Add(s.Element())
	}
	t.head.Count = len(all)
	slices.SortFunc(t.entries, func(a, b treeEntry) int { return strings.Compare(a.path, b.path) })
	return t
}

// Head returns the sums of the conversations; Rest is left empty.
func (t *Tree) Head() Head { return t.head }

// Level returns what is below a prefix, the empty one for all.
func (t *Tree) Level(below Prefix) Level {
	from, _ := slices.BinarySearchFunc(t.entries, string(below), func(e treeEntry, p string) int {
		return strings.Compare(e.path, p)
	})
	rest := t.entries[from:]
	n, _ := slices.BinarySearchFunc(rest, string(below), func(e treeEntry, p string) int {
		if strings.HasPrefix(e.path, p) {
			return -1
		}
		return 1
	})
	in := rest[:n]
	digits := len(below) + 2
	if len(in) <= LeafSize || digits > hex.EncodedLen(sha256.Size) {
		return Level{Conversations: listSummaries(in)}
	}
	var out Level
	for _, e := range in {
		prefix := Prefix(e.path[:digits])
		if k := len(out.Nodes); k == 0 || out.Nodes[k-1].Prefix != prefix {
			out.Nodes = append(out.Nodes, Node{Prefix: prefix})
		}
		node := &out.Nodes[len(out.Nodes)-1]
		node.Count++
		node.Sum = node.Sum.Add(e.Element())
	}
	return out
}

func listSummaries(entries []treeEntry) []Summary {
	var out []Summary
	for _, e := range entries {
		out = append(out, e.Summary)
	}
	slices.SortFunc(out, func(a, b Summary) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

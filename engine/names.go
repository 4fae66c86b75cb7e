package engine

import (
	"github.com/scrollback-ai/scrollback/internal/intake"
	"github.com/scrollback-ai/scrollback/internal/recall"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/internal/workspace"
)

// Reader reads originals for a caller; [View.Recall] makes it. Its methods are Search, Read, Tail, Grep, Refs,
// Messages, All, Segments, Leaves, Shape, Pinned, Artifact, SignedArtifact, Owner, Origins, Conversation, Call (a
// recall tool) and, for those at work in folders, On, Here, Named and SeenProjects. It is [recall.Reader].
type Reader = recall.Reader

// Leaves are the leaves below a Ref: its FirstSeq and LastSeq, how many Messages, and the Leaves. It is
// [recall.Leaves].
type Leaves = recall.Leaves

// Leaf is a compacted run of messages: its Ref, FirstSeq and LastSeq, From and To (times), Messages, Tokens, the
// CardTokens of its placeholder, a Hint, SummaryBy, and whether it is RolledUp. It is [recall.Leaf].
type Leaf = recall.Leaf

// SegmentList is the Segments that a conversation shows, its HeadSeq and PinnedSeqs. It is [recall.SegmentList].
type SegmentList = recall.SegmentList

// Here is a conversation that was begun in a folder: its ID, and when it was last At work. It is
// [recall.LocalConversation].
type Here = recall.LocalConversation

// Ground is where somebody is at work: Folders, and the Scope of what they find. It is [recall.WorkPlace].
type Ground = recall.WorkPlace

// MessageLimits bound one message: MessageChars, Parts, ArtifactBytes, Images, RemoteImages. It is
// [intake.MessageLimits].
type MessageLimits = intake.MessageLimits

// Place is where a person is at work, as models are told it: Roots, MemoryNames, UserFolder, Temp, OS, Now, Locale,
// Setup, and its bounds MaxBytes, MaxEntries, MaxTokens, as Count counts. It is [workspace.Place].
type Place = workspace.Place

// Completion is how a reference may go on: a Path, and whether it is a Folder. It is [workspace.Completion].
type Completion = workspace.Completion

// Head is a Conversation with its current Branch. It is [driver.Head].
type Head = store.Head

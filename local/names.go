package local

import "github.com/scrollback-ai/scrollback/internal/transfer"

// Transfer brings conversations in and takes them out; [Scrollback] has one. Its methods are Import, Export, Survey
// (what a file holds), Copies (full copies), Bring (a session of a tool), Follow, Since, Origins, Deleted, Gone and
// Formats. It is [transfer.Transfer].
type Transfer = transfer.Transfer

// ImportRequest says how to read a file: its Format and Name, the Project or the conversation (Into) that it goes to,
// AsCopy for ids of its own, Summarize, Mask, ByFolder, Again, when it was Changed, the Quota that compactions count
// against, and Progress, which is told of messages. It is [transfer.ImportRequest].
type ImportRequest = transfer.ImportRequest

// ImportResult says what an import brought: Conversations, Skipped lines with MoreSkipped, what was Left out, Masked
// secrets, what was Held back, Deleted here before, or Unsealed, new IDs by old, and what was Asked of models. It is
// [transfer.ImportResult].
type ImportResult = transfer.ImportResult

// Imported is one conversation of an import: its ID, whether it was Created, its new Messages and their Total, the Tool
// and the Source that it comes from, and the Result of a bundle. It is [transfer.Imported].
type Imported = transfer.Imported

// ExportRequest says how to write a conversation: its Format, empty for a bundle, Materialize for the files of a
// bundle's segments, Mask to leave out keys and passwords, the Folder where it goes on, and Progress, which is told of
// messages. It is [transfer.ExportRequest].
type ExportRequest = transfer.ExportRequest

// Survey is what a file holds, before it is imported: its Format, how many Conversations and Messages, Skipped lines
// with MoreSkipped, what would be Left out, and Masked secrets. It is [transfer.Survey].
type Survey = transfer.Survey

// Formats are the names of what is read and written: Imports, Exports, Tools. It is [transfer.Formats].
type Formats = transfer.Formats

// Copies writes full copies of conversations (Write), lists them (List) and reads them (Open). It is
// [transfer.Copies].
type Copies = transfer.Copies

// Copy is a full copy of a conversation: its Key, Bytes, SHA256 and CreatedAt. It is [archive.Copy].
type Copy = transfer.Copy

// Session is a session of a Tool at a Place, a transcript.Session, which Shares its file with others or does not; its
// reading may have Begun already. It is [transfer.Session].
type Session = transfer.Session

// FollowRequest says what a Conversation is to go on with: Entries, Look for what would be written, and Progress, which
// is told of messages. It is [transfer.FollowRequest].
type FollowRequest = transfer.FollowRequest

// Followed is a Conversation that went on as its source: how many messages were the Same, how many Written, up to which
// Seq, how far Behind the source, and whether it is Entire. It is [transfer.Followed].
type Followed = transfer.Followed

// OriginQuery pages through origins: those of a Tool, an ID, a Root, a Place and Name, in a Folder or below it, of
// Conversations, in Projects, with Trash also of those in the trash; After begins behind one, and Limit is how many. It
// is [driver.OriginQuery].
type OriginQuery = transfer.OriginQuery

// Package marks holds the marks around the blocks that a model is given, and makes other
// people's text safe to stand between them.
//
// Words it adds: block (our own words around text that others wrote: what was folded, the
// environment, the record for a summary), mark (a tag that begins or ends a block),
// invisible (a character that a person does not see and a model may read).
//
// Invariants: whatever text goes through [EscapeText], [EscapeLine] or [EscapeJSON], somebody who reads the block
// leniently (any case, compatibility forms as the plain ones, white space and invisible
// characters left out) finds no mark in it, and no invisible character is left that could
// carry a message; doing it again changes nothing; a text without either is returned as it
// is, and nothing but an opening bracket or an invisible character is ever replaced.
//
// Messages that are shown as they were said do not go through it. It knows nothing else of
// this program.
package marks

// The names of the blocks. A block begins with <name> and ends with </name>.
const (
	FoldedHistory     = "folded_history"     // the summary and the placeholders
	Environment       = "environment"        // where a conversation works
	EnvironmentChange = "environment_change" // what is different there by now
	Record            = "record"             // what a summary is made from
	Minutes           = "minutes"            // a summary that is to be checked
	WebResults        = "web_results"        // what a search of the web found
	KeptSentences     = "kept_sentences"     // what people said in other conversations
)

// names are those of all blocks, as a lenient reader knows them: no block may be ended, or
// another begun, inside any of them.
var names = []string{"foldedhistory", "environment", "environmentchange", "record", "minutes", "webresults",
	"keptsentences"}

package words

import "fmt"

// RetryInChat is what a person types in a chat to have the last question answered again.
const RetryInChat = "/retry"

// Ways are what a person types to get out of a refusal that comes again, each with a place
// for a message: going back to it, and going on without it.
type Ways struct{ Back, Without string }

// WaysInChat are the commands of a chat.
var WaysInChat = Ways{Back: "/rewind %d", Without: "/without %d"}

func (w Ways) back(seq int64) string { return fmt.Sprintf(w.Back, seq) }

func (w Ways) without(seq int64) string { return fmt.Sprintf(w.Without, seq) }

package door

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// maxName is how many characters a client's name for a conversation may have.
const maxName = 200

// checkName returns what is wrong with the name that a request gives a conversation with our own header.
func checkName(name string) error {
	isShort := utf8.ValidString(name) && utf8.RuneCountInString(name) <= maxName
	if isShort && !strings.ContainsFunc(name, unicode.IsControl) {
		return nil
	}
	return scrollback.ParamErrorf("door", "X-Scrollback-Conversation", i18n.ConversationNameInvalid,
		"X-Scrollback-Conversation", maxName)
}

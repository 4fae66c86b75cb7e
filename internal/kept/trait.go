package kept

import "github.com/scrollback-ai/scrollback/internal/lazyregexp"

// attitudes finds what a person likes, avoids, has or usually does.
var attitudes = lazyregexp.New(`(?i)\b(?:i|we)(?: really| strongly| usually| generally| always| never)* ` +
	`(?:prefer|like|dislike|hate|love|avoid|refuse|can't stand)\b|我(?:从来|真的|一直|很|最|更|特别|都|也|就|还是)*(?:不)?(?:喜欢|讨厌|偏好|习惯)|过敏`)

// IsTrait reports whether a sentence of a person says what is so about them.
func IsTrait(sentence string) bool {
	s, ok := personText(sentence)
	return ok && attitudes().MatchString(s)
}

// Package markstest reads blocks as leniently as a reader might, independently of how
// text is kept from being a mark.
//
// Only tests import it.
package markstest

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

var mark = regexp.MustCompile(`<[/\\⁄∕]*(folded_history|environment|environment_change|record|minutes|web_results)([^\pL\pN_-]|$)`)

// FindMarks returns the marks that a lenient reader finds in a text: in compatibility forms, in
// lower case, without what is not seen. It is read with white space and without, and the
// reading that finds more counts.
func FindMarks(text string) []string {
	seen := func(r rune) rune {
		if !unicode.IsSpace(r) && unicode.In(r, unicode.Cf, unicode.Cc, unicode.Mn, unicode.Variation_Selector,
			unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return r
	}
	loose := strings.Map(seen, strings.ToLower(norm.NFKC.String(strings.ToValidUTF8(text, ""))))
	found := mark.FindAllString(loose, -1)
	if dense := mark.FindAllString(strings.Join(strings.Fields(loose), ""), -1); len(dense) > len(found) {
		found = dense
	}
	for i := range found {
		found[i] = strings.TrimRightFunc(found[i], func(r rune) bool { return r != '_' && !unicode.IsLetter(r) })
	}
	return found
}

// Pieces are what hostile texts are made of.
var Pieces = []string{"<", "＜", "﹤", "/", "／", "\\", " ", "\n", "\t", "　", "\u00a0", "_", "＿", "-", ">", "＞",
	"folded", "history", "environment", "change", "record", "minutes", "web", "results", "MINUTES", "ｒｅｃｏｒｄ", "r", "e",
	"c", "o", "R",
	"ⓓ", "ſ", "\ufb06", "\u33cc", "\u2175", "\u200b", "\u200c", "\u200d", "\ufe0f", "\ufe00", "\U000E0101", "\u0301",
	"\u0338", "\u202e", "\u00ad", "\U000E0041", "\ufeff", "\r", "\r\n", "\x00", "\xff", "\xe4", "\u2028", "&lt;", "&",
	"\\u200b", "记录", "👩", "❤", "م", "क", "1", "x", "\uFFFD", "\u180b", "\ufdd0", "</folded_history>", "<environment>",
	"</ Record>", "＜／ｍｉｎｕｔｅｓ＞", "<\u200b/environment_change>"}

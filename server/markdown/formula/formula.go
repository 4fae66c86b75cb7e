// Package formula turns mathematics as people and models write it in TeX into
// MathML, which browsers draw without a script and screen readers read.
//
// Words it adds: atom (the smallest thing that can carry an index or an
// exponent), row (atoms beside each other), spread (a sign that has its limits
// above and below it).
//
// Invariants: what comes out is well-formed, holds the elements and attributes
// of [Elements] and no others, and its text is escaped; a formula is translated
// whole or not at all, so that nobody reads half of one as the whole; length,
// depth and output are bounded.
//
// It knows the mathematics of LaTeX and AMS that appears in prose: no macros,
// no packages, no chemistry. It knows nothing of Markdown.
package formula

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// What is translated at most: bytes of TeX, groups within groups, bytes of MathML.
const (
	MaxBytes  = 8000
	maxDepth  = 60
	maxOutput = 200_000
)

// Elements are the elements that MathML may hold, each with its attributes beside class.
var Elements = map[string][]string{
	"math": {"display", "alttext"}, "mrow": nil, "mi": {"mathvariant"}, "mn": nil, "mtext": nil, "mspace": {"width"},
	"mo":    {"stretchy", "minsize", "maxsize", "lspace", "rspace", "movablelimits", "fence", "separator"},
	"mfrac": {"linethickness", "displaystyle"}, "msqrt": nil, "mroot": nil, "mphantom": nil, "mstyle": {"displaystyle"},
	"msub": nil, "msup": nil, "msubsup": nil, "munder": {"accentunder"}, "mover": {"accent"}, "munderover": nil,
	"mtable": {"displaystyle"}, "mtr": nil, "mtd": nil,
}

// MathML translates a formula; display is one that stands on lines of its own. The
// attribute alttext holds the source.
func MathML(tex string, display bool) (string, error) {
	if len(tex) > MaxBytes {
		return "", fmt.Errorf("a formula of %d bytes; at most %d are translated", len(tex), MaxBytes)
	}
	if !utf8.ValidString(tex) {
		return "", errors.New("the formula is not UTF-8")
	}
	p := &parser{src: tex, display: display}
	row, err := p.row(atEnd)
	if err != nil {
		return "", err
	}
	if !p.done() {
		return "", fmt.Errorf("%q at byte %d closes nothing", p.peek(), p.at)
	}
	if p.tag != "" {
		row += space("2em") + p.tag
	}
	if len(row) > maxOutput {
		return "", fmt.Errorf("the formula comes to %d bytes", len(row))
	}
	how := ""
	if display {
		how = ` display="block"`
	}
	return "<math" + how + ` alttext="` + escape(strings.TrimSpace(tex)) + `"><mrow>` + row + "</mrow></math>", nil
}

// escape is text as XML has it, also within quotes.
func escape(s string) string { return escapes.Replace(s) }

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\x00", "�")

// element is an element around content.
func element(name, content string) string { return "<" + name + ">" + content + "</" + name + ">" }

// mo is an operator; attributes are as they are written.
func mo(sign, attributes string) string {
	if attributes != "" {
		attributes = " " + attributes
	}
	return "<mo" + attributes + ">" + escape(sign) + "</mo>"
}

func mi(name string) string { return element("mi", escape(name)) }

func space(width string) string { return `<mspace width="` + width + `"></mspace>` }

// group is a row as one argument of an element.
func group(row string) string { return element("mrow", row) }

// one is an atom as one argument of an element, also where it left no trace.
func one(atom string) string {
	if atom == "" {
		return group("")
	}
	return atom
}

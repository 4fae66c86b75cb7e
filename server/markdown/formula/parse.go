package formula

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parser reads TeX from its beginning to its end.
type parser struct {
	src     string
	at      int
	depth   int
	display bool   // limits stand above and below
	style   string // of letters: the name of an alphabet, or empty
	tag     string // the number of the formula
}

// kind says how an atom stands beside others.
type kind int

const (
	ordinary kind = iota
	operator
	function // a name such as sin
	nothing  // a space, or what leaves no trace
)

// atom is what can carry an index.
type atom struct {
	xml    string
	kind   kind
	spread bool // limits stand above and below it in a displayed formula
	forced bool // and everywhere
	sum    bool // it is a sign of the dictionary that moves its limits by itself
}

// stop says whether a row ends at what comes next.
type stop func(p *parser) bool

func atEnd(p *parser) bool { return p.done() || p.src[p.at] == '}' }

func atBrace(p *parser) bool { return p.done() || p.src[p.at] == '}' }

func atBracket(p *parser) bool { return p.done() || p.src[p.at] == ']' }

func atRight(p *parser) bool { return p.done() || p.src[p.at] == '}' || p.nextIs(`\right`) }

// atCell is the end of a cell of a table.
func atCell(p *parser) bool {
	return p.done() || p.src[p.at] == '}' || p.src[p.at] == '&' || p.nextIs(`\\`) || p.nextIs(`\cr`) || p.nextIs(`\end`)
}

func (p *parser) done() bool { return p.at >= len(p.src) }

// peek is the next character.
func (p *parser) peek() rune {
	r, _ := utf8.DecodeRuneInString(p.src[p.at:])
	return r
}

// nextIs says whether a command comes next, and not one that only begins like it.
func (p *parser) nextIs(command string) bool {
	rest, ok := strings.CutPrefix(p.src[p.at:], command)
	return ok && (command == `\\` || rest == "" || !isLetter(rest[0]))
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// skip passes over spaces. A percent sign begins no comment: whoever writes one means it.
func (p *parser) skip() {
	for !p.done() && strings.IndexByte(" \t\r\n", p.src[p.at]) >= 0 {
		p.at++
	}
}

// accept passes over one character if it comes next.
func (p *parser) accept(c byte) bool {
	p.skip()
	if p.done() || p.src[p.at] != c {
		return false
	}
	p.at++
	return true
}

// enter counts a level, and leave gives it back.
func (p *parser) enter() error {
	p.depth++
	if p.depth > maxDepth {
		return fmt.Errorf("more than %d groups within each other", maxDepth)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// row reads atoms until it has to stop.
func (p *parser) row(until stop) (string, error) {
	if err := p.enter(); err != nil {
		return "", err
	}
	defer p.leave()
	display := p.display
	style := p.style
	defer func() {
		p.display = display
		p.style = style
	}()
	var b strings.Builder
	before := nothing
	for {
		p.skip()
		if until(p) {
			return b.String(), nil
		}
		if b.Len() > maxOutput {
			return "", errors.New("the formula is too big")
		}
		if p.styled() {
			rest, err := p.row(until)
			if err != nil {
				return "", err
			}
			return b.String() + fmt.Sprintf(`<mstyle displaystyle="%t">`, p.display) + rest + "</mstyle>", nil
		}
		a, err := p.scripted()
		if err != nil {
			return "", err
		}
		if a.kind == function && before == ordinary {
			b.WriteString(space("0.1667em"))
		}
		b.WriteString(a.xml)
		if a.kind == function && p.names(until) {
			b.WriteString(space("0.1667em"))
		}
		if before = a.kind; before == function {
			before = nothing
		}
	}
}

// styled passes over a command that holds for the rest of its row.
func (p *parser) styled() bool {
	for _, name := range []string{`\displaystyle`, `\textstyle`, `\scriptstyle`} {
		if p.nextIs(name) {
			p.at += len(name)
			p.display = name == `\displaystyle`
			return true
		}
	}
	return false
}

// names says whether what follows a function is set apart from it: a bracket is not.
func (p *parser) names(until stop) bool {
	p.skip()
	if until(p) || strings.IndexByte("([{|,.;)]=+-<>/&^_", p.src[p.at]) >= 0 && p.src[p.at] != '{' {
		return false
	}
	for _, open := range []string{`\left`, `\big`, `\Big`, `\bigl`, `\Bigl`, `\biggl`, `\lvert`, `\lVert`, `\{`, `\,`,
		`\right`, `\|`} {
		if p.nextIs(open) || len(open) == 2 && strings.HasPrefix(p.src[p.at:], open) {
			return false
		}
	}
	return true
}

// scripted reads an atom with what stands above and below it.
func (p *parser) scripted() (atom, error) {
	var base atom
	if c := p.src[p.at]; c != '^' && c != '_' && c != '\'' {
		var err error
		if base, err = p.atom(); err != nil {
			return base, err
		}
	} else {
		base.xml = group("")
	}
	var sub, sup, primes string
	for {
		p.skip()
		if p.limits(&base) {
			continue
		}
		if p.done() {
			break
		}
		c := p.src[p.at]
		if c == '\'' && primes == "" && sup == "" {
			primes = p.primes()
			continue
		}
		if c != '^' && c != '_' {
			break
		}
		if c == '^' && sup != "" || c == '_' && sub != "" {
			return base, fmt.Errorf("two of %q on one atom", c)
		}
		p.at++
		script, err := p.script()
		if err != nil {
			return base, err
		}
		if c == '^' {
			sup = one(script)
		} else {
			sub = one(script)
		}
	}
	if primes != "" && sup != "" {
		sup = group(primes + sup)
	} else {
		sup += primes
	}
	return base.with(sub, sup, p.display), nil
}

// limits reads where the limits of an operator stand.
func (p *parser) limits(base *atom) bool {
	switch {
	case p.done():
		return false
	case p.nextIs(`\limits`):
		p.at += len(`\limits`)
		base.spread = true
		base.forced = true
	case p.nextIs(`\nolimits`):
		p.at += len(`\nolimits`)
		base.spread = false
		base.forced = false
	default:
		return false
	}
	return true
}

// primes reads one or several.
func (p *parser) primes() string {
	n := 0
	for !p.done() && p.src[p.at] == '\'' {
		p.at++
		n++
	}
	return mo(strings.Repeat("′", n), "")
}

// with is an atom with what stands below and above it.
func (a atom) with(sub, sup string, display bool) atom {
	name := "sub"
	over := a.spread && (display || a.forced)
	if over {
		name = "under"
	}
	if over && a.forced && !display && a.sum {
		a.xml = strings.Replace(a.xml, "<mo", `<mo movablelimits="false"`, 1)
	}
	switch {
	case sub == "" && sup == "":
		return a
	case sup == "":
		name = "m" + name
	case sub == "" && over:
		name = "mover"
	case sub == "":
		name = "msup"
	case over:
		name = "munderover"
	default:
		name = "msubsup"
	}
	return atom{xml: element(name, one(a.xml)+sub+sup), kind: a.kind}
}

// script reads an index or exponent: a group, or one atom.
func (p *parser) script() (string, error) {
	was := p.display
	p.display = false
	defer func() { p.display = was }()
	return p.argument()
}

// argument reads what a command applies to: a group, or one atom.
func (p *parser) argument() (string, error) {
	p.skip()
	if p.done() {
		return "", errors.New("the formula ends where an argument is missing")
	}
	if c := p.src[p.at]; c == '}' || c == '&' || c == '^' || c == '_' {
		return "", fmt.Errorf("%q at byte %d where an argument is missing", c, p.at)
	}
	if isDigit(p.src[p.at]) { // x^12 is x to the one, and then a two
		p.at++
		return element("mn", p.src[p.at-1:p.at]), nil
	}
	a, err := p.atom()
	return a.xml, err
}

// braced reads what stands in braces as it is written.
func (p *parser) braced() (string, error) {
	p.skip()
	if p.done() || p.src[p.at] != '{' {
		return "", fmt.Errorf("braces are missing at byte %d", p.at)
	}
	depth := 0
	for i := p.at; i < len(p.src); i++ {
		switch p.src[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				text := p.src[p.at+1 : i]
				p.at = i + 1
				return text, nil
			}
		}
	}
	return "", errors.New("a brace is not closed")
}

// optional reads what stands in brackets, if they come next.
func (p *parser) optional() (xml string, ok bool, err error) {
	if !p.accept('[') {
		return "", false, nil
	}
	xml, err = p.row(atBracket)
	if err == nil && !p.accept(']') {
		err = errors.New("a bracket is not closed")
	}
	return xml, true, err
}

// atom reads one.
func (p *parser) atom() (atom, error) {
	if err := p.enter(); err != nil {
		return atom{}, err
	}
	defer p.leave()
	p.skip()
	c := p.src[p.at]
	switch {
	case c == '{':
		p.at++
		xml, err := p.row(atBrace)
		if err == nil && !p.accept('}') {
			err = errors.New("a brace is not closed")
		}
		return atom{xml: group(xml)}, err
	case c == '\\':
		return p.command()
	case isDigit(c):
		return atom{xml: p.number()}, nil
	case c == '&' || c == '#' || c == '$':
		return atom{}, fmt.Errorf("%q at byte %d", c, p.at)
	}
	r, n := utf8.DecodeRuneInString(p.src[p.at:])
	p.at += n
	return p.character(r), nil
}

// number reads digits with the points and commas between them.
func (p *parser) number() string {
	from := p.at
	for p.at < len(p.src) {
		c := p.src[p.at]
		inside := (c == '.' || c == ',') && p.at+1 < len(p.src) && isDigit(p.src[p.at+1]) && c == '.'
		if !isDigit(c) && !inside {
			break
		}
		p.at++
	}
	return element("mn", escape(styledText(p.src[from:p.at], p.style)))
}

// character is one that stands for itself.
func (p *parser) character(r rune) atom {
	if sign, ok := signs[r]; ok {
		return sign
	}
	switch {
	case r == '~':
		return atom{xml: space("0.3333em"), kind: nothing}
	case unicode.Is(unicode.Han, r), unicode.Is(unicode.Hangul, r), unicode.Is(unicode.Hiragana, r),
		unicode.Is(unicode.Katakana, r):
		return atom{xml: element("mtext", escape(string(r)))}
	case unicode.IsLetter(r):
		return atom{xml: p.letter(string(r))}
	}
	return atom{xml: mo(string(r), ""), kind: operator}
}

// letter is a letter of the alphabet that holds here.
func (p *parser) letter(s string) string {
	if p.style == "normal" {
		return `<mi mathvariant="normal">` + escape(s) + "</mi>"
	}
	return mi(styledText(s, p.style))
}

// signs are characters that are operators, and how they behave.
var signs = func() map[rune]atom {
	out := map[rune]atom{'-': {xml: mo("−", ""), kind: operator}, '*': {xml: mo("∗", ""), kind: operator},
		':': {xml: mo(":", ""), kind: operator},
		'/': {xml: mo("/", `lspace="0" rspace="0"`), kind: operator}, ',': {xml: mo(",", `separator="true"`), kind: nothing},
		'.': {xml: mo(".", `lspace="0" rspace="0"`)}, '!': {xml: mo("!", `lspace="0" rspace="0"`)},
		'%': {xml: mo("%", `lspace="0" rspace="0"`)}, '"': {xml: mo("″", "")}}
	for _, r := range "([{" {
		out[r] = atom{xml: mo(string(r), `stretchy="false"`), kind: nothing}
	}
	for _, r := range ")]}" {
		out[r] = atom{xml: mo(string(r), `stretchy="false"`)}
	}
	out['|'] = atom{xml: mo("|", `stretchy="false" lspace="0" rspace="0"`)}
	return out
}()

package formula

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// name reads the name of the command that comes next, without its backslash.
func (p *parser) name() (string, error) {
	p.at++
	if p.done() {
		return "", errors.New("the formula ends with a backslash")
	}
	from := p.at
	for p.at < len(p.src) && isLetter(p.src[p.at]) {
		p.at++
	}
	if p.at == from {
		_, n := utf8.DecodeRuneInString(p.src[p.at:])
		p.at += n
	}
	return p.src[from:p.at], nil
}

// command reads one with its arguments.
func (p *parser) command() (atom, error) {
	name, err := p.name()
	if err != nil {
		return atom{}, err
	}
	if a, ok := p.symbol(name); ok {
		return a, nil
	}
	if a, known, err := p.applied(name); known {
		return a, err
	}
	if style, ok := styles[name]; ok {
		return inStyle(p, style)
	}
	if sign, ok := accents[name]; ok {
		return accented(p, name, sign)
	}
	if sign, ok := belows[name]; ok {
		return under(p, name, sign)
	}
	return atom{}, fmt.Errorf(`the command \%s is not known`, name)
}

// symbol is a command that takes nothing.
func (p *parser) symbol(name string) (atom, bool) {
	if s, ok := letters[name]; ok {
		return atom{xml: p.letter(s)}, true
	}
	if s, ok := uprights[name]; ok {
		if alphabets[p.style].upper != 0 {
			s = styledText(s, p.style)
		}
		return atom{xml: `<mi mathvariant="normal">` + escape(s) + "</mi>"}, true
	}
	if s, ok := operators[name]; ok {
		return atom{xml: mo(s, ""), kind: operator}, true
	}
	if s, ok := spreads[name]; ok {
		return atom{xml: mo(s, ""), kind: operator, spread: true, sum: true}, true
	}
	if s, ok := integrals[name]; ok {
		return atom{xml: mo(s, ""), kind: operator}, true
	}
	if limits, ok := functions[name]; ok {
		return atom{xml: upright(spelled(name)), kind: function, spread: limits}, true
	}
	if w, ok := widths[name]; ok {
		return atom{xml: space(w), kind: nothing}, true
	}
	if name == " " || name == "\n" || name == "\t" {
		return atom{xml: space("0.3333em"), kind: nothing}, true
	}
	if _, ok := ignored[name]; ok {
		return atom{kind: nothing}, true
	}
	if s, ok := delimiters[name]; ok {
		return atom{xml: mo(s, `stretchy="false"`)}, true
	}
	return atom{}, false
}

// spelled is the name of a function as it is read.
func spelled(name string) string {
	switch name {
	case "limsup":
		return "lim sup"
	case "liminf":
		return "lim inf"
	case "argmax":
		return "arg max"
	case "argmin":
		return "arg min"
	}
	return name
}

// upright is a name that is read as one word.
func upright(name string) string { return `<mi mathvariant="normal">` + escape(name) + "</mi>" }

// applied reads a command that takes arguments; known says whether there is such a one.
func (p *parser) applied(name string) (a atom, known bool, err error) {
	switch name {
	case "frac", "dfrac", "tfrac", "cfrac", "binom", "dbinom", "tbinom":
		a, err = fraction(p, name)
	case "sqrt":
		a, err = root(p)
	case "text", "textrm", "textnormal", "mbox", "hbox", "textup", "textsf", "texttt", "textbf", "textit", "emph":
		a, err = words(p, name)
	case "operatorname":
		a, err = named(p)
	case "left":
		a, err = fenced(p)
	case "begin":
		a, err = environment(p)
	case "not":
		a, err = denied(p)
	case "overset", "stackrel", "underset":
		a, err = stacked(p, name)
	case "xrightarrow", "xleftarrow", "xleftrightarrow", "xRightarrow", "xLeftarrow", "xmapsto", "xlongequal":
		a, err = arrow(p, name)
	case "substack":
		a, err = substack(p)
	case "boxed", "fbox", "cancel", "bcancel", "xcancel", "sout":
		a, err = marked(p, name)
	case "phantom", "hphantom", "vphantom":
		a.xml, err = p.argument()
		a.xml = element("mphantom", one(a.xml))
	case "smash", "mathord", "mathrel", "mathbin", "mathop", "mathpunct", "mathinner", "mathclose", "mathopen",
		"ensuremath", "mathstrut":
		a.xml, err = p.argument()
		a.spread = name == "mathop"
	case "bmod", "mod", "pmod", "pod":
		a, err = modulo(p, name)
	case "color", "textcolor", "colorbox", "label", "hspace", "vspace", "mathchoice":
		a, err = dropped(p, name)
	case "tag":
		a, err = tagged(p)
	default:
		if size, ok := sized[strings.TrimRight(name, "lrm")]; ok {
			a, err = big(p, name, size)
			break
		}
		return a, false, nil
	}
	return a, true, err
}

// fraction reads a fraction or a binomial.
func fraction(p *parser, name string) (atom, error) {
	was := p.display
	defer func() { p.display = was }()
	p.display = name == "cfrac"
	top, err := p.argument()
	if err != nil {
		return atom{}, err
	}
	bottom, err := p.argument()
	if err != nil {
		return atom{}, err
	}
	binom := strings.HasSuffix(name, "binom")
	open := "<mfrac>"
	if binom {
		open = `<mfrac linethickness="0">`
	}
	xml := open + one(top) + one(bottom) + "</mfrac>"
	switch name[0] {
	case 'd', 'c':
		xml = `<mstyle displaystyle="true">` + xml + "</mstyle>"
	case 't':
		xml = `<mstyle displaystyle="false">` + xml + "</mstyle>"
	}
	if binom {
		xml = group(mo("(", "") + xml + mo(")", ""))
	}
	return atom{xml: xml}, nil
}

// root reads a square root or another one.
func root(p *parser) (atom, error) {
	of, ok, err := p.optional()
	if err != nil {
		return atom{}, err
	}
	under, err := p.argument()
	if ok {
		return atom{xml: element("mroot", one(under)+group(of))}, err
	}
	return atom{xml: element("msqrt", one(under))}, err
}

// words reads words, in which $…$ is a formula.
func words(p *parser, name string) (atom, error) {
	words, err := p.braced()
	if err != nil {
		return atom{}, err
	}
	open := "<mtext>"
	if class := map[string]string{"textbf": "bold", "textit": "italic", "emph": "italic",
		"texttt": "mono"}[name]; class != "" {
		open = `<mtext class="` + class + `">`
	}
	var b strings.Builder
	for i, piece := range strings.Split(words, "$") {
		if i%2 == 0 {
			if piece != "" {
				b.WriteString(open + escape(unescaped.Replace(piece)) + "</mtext>")
			}
			continue
		}
		inner := &parser{src: piece, depth: p.depth}
		xml, err := inner.row(atEnd)
		if err == nil && !inner.done() {
			err = errors.New("a brace closes nothing")
		}
		if err != nil {
			return atom{}, err
		}
		b.WriteString(xml)
	}
	return atom{xml: group(b.String())}, nil
}

// unescaped is text as it is read; spaces at its ends count.
var unescaped = strings.NewReplacer(`\%`, "%", `\$`, "$", `\#`, "#", `\&`, "&", `\_`, "_", `\{`, "{", `\}`, "}", `\ `,
	"\u00a0", `\textbackslash`, `\`,
	"~", "\u00a0", " ", "\u00a0", "\n", "\u00a0", "---", "—", "--", "–", "``", "“", "''", "”")

// named reads a name that is set upright.
func named(p *parser) (atom, error) {
	star := p.accept('*')
	words, err := p.braced()
	if err != nil {
		return atom{}, err
	}
	words = strings.NewReplacer(`\,`, "\u2009", `\ `, " ", "{", "", "}", "").Replace(words)
	if strings.ContainsAny(words, `\$^_&`) {
		return atom{}, errors.New("the name of an operator holds a command")
	}
	return atom{xml: upright(words), kind: function, spread: star}, nil
}

// inStyle reads an argument in an alphabet.
func inStyle(p *parser, style string) (atom, error) {
	p.skip()
	if style == "normal" && !p.done() && p.src[p.at] == '{' { // one word, if it is one
		at := p.at
		words, err := p.braced()
		if err == nil && words != "" && strings.IndexFunc(words,
			func(r rune) bool { return r > 127 || !isLetter(byte(r)) }) < 0 {
			return atom{xml: upright(words)}, nil
		}
		p.at = at
	}
	was := p.style
	p.style = style
	defer func() { p.style = was }()
	xml, err := p.argument()
	return atom{xml: xml}, err
}

// accented reads what a sign stands over.
func accented(p *parser, name, sign string) (atom, error) {
	xml, err := p.argument()
	stretchy := "false"
	if strings.HasPrefix(name, "wide") || strings.HasPrefix(name, "over") {
		stretchy = "true"
	}
	over := strings.HasPrefix(name, "over") && (sign == "⏞" || sign == "⏜" || sign == "⏠")
	if name == "overline" {
		sign = "‾"
	}
	return atom{xml: `<mover accent="true">` + one(xml) + mo(sign, `stretchy="`+stretchy+`"`) + "</mover>", spread: over,
		forced: over}, err
}

// under reads what a sign stands under.
func under(p *parser, name, sign string) (atom, error) {
	xml, err := p.argument()
	brace := sign == "⏟" || sign == "⏝"
	if sign == "_" {
		sign = "‾"
	}
	return atom{xml: `<munder accentunder="true">` + one(xml) + mo(sign, `stretchy="true"`) + "</munder>", spread: brace,
		forced: brace}, err
}

// denied reads a relation that is denied.
func denied(p *parser) (atom, error) {
	p.skip()
	if p.done() {
		return atom{}, errors.New("\\not stands before nothing")
	}
	_, n := utf8.DecodeRuneInString(p.src[p.at:])
	key := p.src[p.at : p.at+n]
	if key == `\` {
		var err error
		if key, err = p.name(); err != nil {
			return atom{}, err
		}
	} else {
		p.at += n
	}
	sign, ok := nots[key]
	if !ok {
		return atom{}, fmt.Errorf("\\not before %q is not known", key)
	}
	return atom{xml: mo(sign, ""), kind: operator}, nil
}

// stacked reads what stands over or under something.
func stacked(p *parser, name string) (atom, error) {
	small, err := p.script()
	if err != nil {
		return atom{}, err
	}
	base, err := p.argument()
	how := "mover"
	if name == "underset" {
		how = "munder"
	}
	return atom{xml: element(how, one(base)+one(small)), kind: operator}, err
}

// arrow reads one that grows with what is written over it.
func arrow(p *parser, name string) (atom, error) {
	sign := map[string]string{"xrightarrow": "→", "xleftarrow": "←", "xleftrightarrow": "↔", "xRightarrow": "⇒",
		"xLeftarrow": "⇐",
		"xmapsto":    "↦", "xlongequal": "="}[name]
	under, below, err := p.optional()
	if err != nil {
		return atom{}, err
	}
	over, err := p.script()
	padded := group(space("0.4em") + over + space("0.4em"))
	if below {
		return atom{xml: element("munderover", mo(sign, `stretchy="true"`)+group(under)+padded), kind: operator}, err
	}
	return atom{xml: element("mover", mo(sign, `stretchy="true"`)+padded), kind: operator}, err
}

// marked reads what has a frame or is struck out: a class says so.
func marked(p *parser, name string) (atom, error) {
	xml, err := p.argument()
	class := "struck"
	if strings.HasSuffix(name, "box") || name == "boxed" {
		class = "boxed"
	}
	return atom{xml: `<mrow class="` + class + `">` + xml + "</mrow>"}, err
}

// modulo reads one of the ways to write it.
func modulo(p *parser, name string) (atom, error) {
	if name == "bmod" {
		return atom{xml: mo("mod", `lspace="0.2222em" rspace="0.2222em"`), kind: operator}, nil
	}
	xml, err := p.argument()
	switch name {
	case "mod":
		return atom{xml: group(space("1em") + upright("mod") + space("0.3333em") + xml)}, err
	case "pod":
		return atom{xml: group(space("1em") + mo("(", `stretchy="false"`) + xml + mo(")", `stretchy="false"`))}, err
	}
	return atom{xml: group(space("1em") + mo("(", `stretchy="false"`) + upright("mod") + space("0.3333em") + xml +
		mo(")", `stretchy="false"`))}, err
}

// dropped reads what says how something looks, or is for other programs, and passes over it.
func dropped(p *parser, name string) (atom, error) {
	if name == "mathchoice" {
		return atom{}, errors.New(`\mathchoice is not known`)
	}
	p.accept('*')
	if _, err := p.braced(); err != nil {
		return atom{}, err
	}
	switch name {
	case "hspace":
		return atom{xml: space("1em"), kind: nothing}, nil
	case "textcolor", "colorbox":
		xml, err := p.argument()
		return atom{xml: xml}, err
	}
	return atom{kind: nothing}, nil
}

// tagged reads the number of a formula.
func tagged(p *parser) (atom, error) {
	star := p.accept('*')
	words, err := p.braced()
	words = unescaped.Replace(words)
	if !star {
		words = "(" + words + ")"
	}
	p.tag = element("mtext", escape(words))
	return atom{kind: nothing}, err
}

// sized are the commands for delimiters of a size.
var sized = map[string]string{"big": "1.2em", "Big": "1.8em", "bigg": "2.4em", "Bigg": "3em"}

// big reads a delimiter of a size.
func big(p *parser, name, size string) (atom, error) {
	sign, err := p.delimiter()
	k := ordinary
	if strings.HasSuffix(name, "l") {
		k = nothing
	}
	return atom{xml: mo(sign, `stretchy="true" minsize="`+size+`" maxsize="`+size+`"`), kind: k}, err
}

// delimiter reads the sign behind \left and its like; a point is none.
func (p *parser) delimiter() (string, error) {
	p.skip()
	if p.done() {
		return "", errors.New("the formula ends where a delimiter is missing")
	}
	r, n := utf8.DecodeRuneInString(p.src[p.at:])
	if r == '\\' {
		name, err := p.name()
		if sign, ok := delimiters[name]; ok {
			return sign, nil
		}
		return "", errors.Join(err, fmt.Errorf(`\%s is no delimiter`, name))
	}
	p.at += n
	switch {
	case r == '.':
		return "", nil
	case r == '<':
		return "⟨", nil
	case r == '>':
		return "⟩", nil
	case strings.ContainsRune("()[]|/⟨⟩⌊⌋⌈⌉‖", r):
		return string(r), nil
	}
	return "", fmt.Errorf("%q is no delimiter", r)
}

// fenced reads what stands between \left and \right.
func fenced(p *parser) (atom, error) {
	var b strings.Builder
	open, err := p.delimiter()
	if err != nil {
		return atom{}, err
	}
	b.WriteString(fence(open))
	for {
		inner, err := p.row(func(p *parser) bool { return atRight(p) || p.nextIs(`\middle`) })
		if err != nil {
			return atom{}, err
		}
		b.WriteString(inner)
		middle := p.nextIs(`\middle`)
		if !middle && !p.nextIs(`\right`) {
			return atom{}, errors.New(`\left has no \right`)
		}
		if _, err := p.name(); err != nil {
			return atom{}, err
		}
		sign, err := p.delimiter()
		if err != nil {
			return atom{}, err
		}
		b.WriteString(fence(sign))
		if !middle {
			return atom{xml: group(b.String())}, nil
		}
	}
}

// fence is a delimiter that grows with what it stands beside.
func fence(sign string) string {
	if sign == "" {
		return ""
	}
	return mo(sign, `fence="true" stretchy="true"`)
}

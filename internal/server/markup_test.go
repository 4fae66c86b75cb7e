package server_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// drawnAnswer has one of everything, in pieces as they arrive.
var drawnAnswer = []string{
	"# The gauges, as of #1\n\nStation 7 uses **+0.184 m** and `datum`; 价格**加粗。**后文 $E=mc^2$.\n\n",
	"- one\n- two\n  - [x] done\n\n> A quote\n\nStill ", "open",
	"\n\n| Station | Datum | Residual |\n|:--|--:|--:|\n| 3 Old quay | 2019 | 1.9 cm |\n| 7 North mole | 2026 | 2.4 cm |\n\n",
	"$$\nh(t) = z_0 + \\sum_{k=1}^{8} A_k\\cos(\\omega_k t - \\varphi_k)\n$$\n\n" +
		"```go\n// fit leaves out the hours without a reading.\nfunc fit(obs []Reading) ",
	"(Tide, error) {\n\treturn solve(len(obs), 0, \"x\")\n}\n```\n\n",
	"Wide: [a link](https://example.com/a), ![a picture](https://example.com/x.png), a note[^1].\n\n",
	"\\[ \\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix} \\quad \\begin{cases} 1 & x > 0 \\\\ 0 & \\text{otherwise} \\end{cases} \\]\n\n",
	"[^1]: The note.\n",
}

const (
	blocksDrawn = `document.querySelectorAll('.written > .markup').length`
	lastDrawn   = `#m2 .markup`
)

// until waits until a script is true on the page. What it asks for may not be there yet.
func until(script string) chromedp.Action[chromedp.Void] {
	return chromedp.Poll[chromedp.Void](`(() => { try { return ` + script + `; } catch { return false; } })()`)
}

// An answer is drawn block by block while it is written: what is closed stays the same nodes at
// the same place, what is open is plain, and the stored message takes their place without a jump.
func TestPageDrawsMarkdown(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	step := modeltest.Say(drawnAnswer...)
	step.Gate = gate
	d := newDesk(t, step)
	next := func(n int) {
		for range n {
			select {
			case gate <- struct{}{}:
			case <-d.ctx.Done():
				t.Fatal("the model is not asked")
			}
		}
	}
	id := d.conversation()
	d.do("markup asked", chromedp.EmulateViewport(1360, 900), chromedp.Navigate(d.url+"/#"+string(id)),
		chromedp.WaitVisible(writing),
		chromedp.SendKeys(writing, "Show **everything**\r"), chromedp.WaitVisible(".writing"))
	next(2)
	d.do("markup begins", until(blocksDrawn+` >= 3 && document.querySelector('.written .open')`),
		// a line is as high as its formula
		until(`[...document.fonts].some(f => f.family.includes('Formula') && f.status === 'loaded')`))
	d.is("what is open", `document.querySelector('.written .open').innerText.trim()`, "> A quote\n\nStill")
	d.is("a mention", `document.querySelector('.written a.ref').getAttribute('href')`, "#"+string(id)+"/1")
	d.eval(`document.querySelectorAll('.written > .markup').forEach((n, i) => { n.mark = 'n' + i; n.was = n.firstChild; n.top = n.offsetTop;
		})`)
	known := d.eval(blocksDrawn)
	next(3)
	d.do("markup goes on", until(blocksDrawn+` > `+known+` + 1`),
		until(`document.querySelector('.written .open figure.code')`))
	d.is("closed blocks", `[...document.querySelectorAll('.written > .markup')].slice(0, `+known+`).every((n, i) => n.mark === 'n' + i &&
		n.was === n.firstChild && n.top === n.offsetTop)`, "true")
	d.is("code that is open", `document.querySelector('.written .open figure.code pre').innerText.includes('func fit')`,
		"true")
	next(3)
	d.do("markup is read", until(`document.querySelectorAll('.written .code .tok-keyword').length > 0`),
		chromedp.EmulateViewport(1360, 500), until(`innerHeight === 500`),
		chromedp.Evaluate[chromedp.Void](`(() => { const s = document.querySelector('.scroll'); s.scrollTop = 120;
			s.dispatchEvent(new Event('scroll')); })()`),
		until(`document.fonts.status === 'loaded'`))
	place := `[document.querySelector('.scroll').scrollTop, ...[...document.querySelectorAll('.body h1, .body table, .body math, .body .code')]
		.map(n => Math.round(n.getBoundingClientRect().top))].join()`
	before := d.eval(place)
	close(gate)
	d.do("markup stored", chromedp.WaitVisible(lastDrawn), chromedp.WaitNotPresent(".writing"))
	if after := d.eval(place); !strings.HasPrefix(after, before) {
		t.Errorf("what is read stood at %s, and stands at %s", before, after)
	}
	for what, want := range map[string]string{
		`[...document.querySelectorAll('#m2 td')].slice(0, 3).map(x => getComputedStyle(x).textAlign).join()`:    "left,right,right",
		`document.querySelectorAll('#m2 math').length`:                                                           "3",
		`document.querySelector('#m2 munderover').getBoundingClientRect().height > 30`:                           "true",
		`document.querySelectorAll('#m2 .tok-keyword').length`:                                                   "2",
		`document.querySelector('#m2 a.image').innerText`:                                                        "a picture example.com",
		`document.querySelector('#m2 a.image').rel`:                                                              "noopener noreferrer",
		`document.querySelectorAll('#m2 .footnotes li').length`:                                                  "1",
		`document.querySelector('#m2 li input').checked`:                                                         "true",
		`document.querySelector('#m1 strong').innerText`:                                                         "everything",
		`document.querySelector('#m2 .markup').scrollWidth <= document.querySelector('#m2 .markup').clientWidth`: "true",
	} {
		d.is(what, what, want)
	}
	d.switches(id)
}

// switches tries what can be done with a drawn answer.
func (d *pageRig) switches(id scrollback.ConversationID) {
	d.Helper()
	d.eval(`navigator.clipboard.writeText = async (t) => { window.copied = t; }`)
	d.do("markup copied", chromedp.Evaluate[chromedp.Void](`document.querySelector('#m2 .copy').click()`),
		until(`window.copied`))
	d.is("copied code", `window.copied`,
		"// fit leaves out the hours without a reading.\nfunc fit(obs []Reading) (Tide, error) {\n\treturn solve(len(obs), 0, \"x\")\n}\n")
	d.do("markup footnote", chromedp.Evaluate[chromedp.Void](`document.querySelector('#m2 .footnote-ref').click()`))
	d.is("the address behind a footnote", `location.hash`, "#"+string(id))
	d.is("where it leads", `document.activeElement.closest('.footnotes') !== null`, "true")
	d.do("markup raw", chromedp.Evaluate[chromedp.Void](`document.activeElement.blur()`), chromedp.KeyEvent("r"),
		chromedp.WaitVisible("#m2 .raw"))
	d.is("raw", `document.querySelector('#m2 .raw').textContent`, strings.Join(drawnAnswer, ""))
	d.do("markup drawn", chromedp.KeyEvent("r"), chromedp.WaitVisible(lastDrawn))
	d.do("markup dark", chromedp.EmulateViewport(1360, 1000),
		chromedp.Evaluate[chromedp.Void](`document.documentElement.dataset.theme = 'dark'`))
	d.do("markup phone", chromedp.EmulateViewport(390, 844), chromedp.Reload(), chromedp.WaitVisible(lastDrawn))
	d.is("its width", `document.documentElement.scrollWidth`, "390")
}

// formulas are what people and models write, of each kind that the page draws; those that it does
// not draw stay as they were written.
var formulas = []struct {
	tex   string
	drawn bool
}{
	{`E=mc^2`, true}, {`\frac{-b \pm \sqrt{b^2-4ac}}{2a}`, true}, {`\int_0^\infty e^{-x^2}\,dx`, true},
	{`\begin{aligned} a &= 1 \\ b &= 2 \end{aligned}`, true}, {`\begin{alignedat}{2} a&=1 & b&=2 \end{alignedat}`, true},
	{`\begin{array}{|r:c|} \hline 1 & 2 \\ \hline \end{array}`, true}, {`\textcolor{#0a0}{x} + \color{red} y`, true},
	{`\colorbox{teal}{B}`, true}, {`\cancel{x} + \xcancel{y} + \sout{z}`, true}, {`\boxed{F=ma}`, true},
	{`\xrightarrow[a]{b} + \xhookrightarrow{c}`, true}, {`{a \over b} + {a \choose b} + \genfrac{[}{]}{0pt}{1}{a}{b}`, true},
	{`\cfrac{1}{1+\cfrac{1}{x}}`, true}, {`\overbrace{a+b}^{n} \underbrace{c}_{m}`, true}, {`\mathrlap{x}y \smash{z}`, true},
	{`\raisebox{1em}{x} \rule{1em}{1em} \kern1em`, true}, {`\Huge x \tiny y`, true}, {`\mathop{a}\limits_b^c`, true},
	{`\left( x \middle| y \right]`, true}, {`\verb|<x>| \text{for $a < b$}`, true}, {`\operatorname{Gam ma}(z)`, true},
	{`\mathscr{C} \mathfrak{g} \mathbb{R} \boldsymbol{\beta}`, true}, {`\widehat{ABC} \utilde{x} \overgroup{AB}`, true},
	{`\not\in \bmod 2 \pmod{4}`, true}, {`\ce{2 H2 + O2 -> 2 H2O}`, false}, {`\bcancel{5ay} + \phantom{x}`, true},
	{`\unknown{x}`, false}, {`\frac{1`, false}, {`\href{https://example.com}{x}`, false}, {`\def\a{x}\a`, false},
	{`\newcommand{\b}{x}\b`, false}, {`\includegraphics{x.png}`, false}, {`x\ref{a}`, false},
	{`\overset{a}{b}`, true}, {`\KaTeX \blue{x}`, true},
}

// A formula is drawn whole, or stands as it was written; nothing of it is a link or has an id.
func TestPageDrawsFormulas(t *testing.T) {
	t.Parallel()
	text := ""
	for _, f := range formulas {
		text += "\\(" + f.tex + "\\)\n\n"
	}
	d := newDesk(t)
	c, _, err := d.rig.Create(d.Context(), scrollback.Conversation{Title: "Formulas"}, scrollback.Message{
		Role: scrollback.RoleAssistant, Parts: scrollback.Parts{scrollback.Text{Text: text}}})
	if err != nil {
		t.Fatal(err)
	}
	d.do("formulas", chromedp.EmulateViewport(1360, 2400), chromedp.Navigate(d.url+"/#"+string(c.ID)),
		until(`document.querySelectorAll('#m1 p math').length > 0`))
	for i, f := range formulas {
		n := strconv.Itoa(i + 1)
		want := "false " + `\(` + f.tex + `\)`
		if f.drawn {
			want = "true " + f.tex
		}
		d.is(f.tex, `(() => { const p = document.querySelector('#m1 p:nth-of-type(`+n+`)');
			const math = p.querySelector('math');
			return Boolean(math) + ' ' + (math ? math.getAttribute('alttext') : p.innerText.trim()); })()`, want)
	}
	d.is("what stands above a letter", `Boolean(document.querySelector('#m1 math[alttext="\\\\overset{a}{b}"] mover'))`, "true")
	d.is("links and ids", `document.querySelectorAll('#m1 .markup :is(a, img, [id], [href])').length`, "0")
}

// What is written against the page is shown and does nothing: no program of it runs, nothing is
// asked of another host, the content policy is not even called upon, and the page stays whole.
func TestPageHostileMarkdown(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("markdown/testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []string
	if err := json.Unmarshal(raw, &vectors); err != nil || len(vectors) < 100 {
		t.Fatalf("there are %d vectors, %v", len(vectors), err)
	}
	const name = `"><img src=x onerror=x()><script>x()</script>`
	d := newDesk(t, modeltest.Say(strings.SplitAfter(strings.Join(vectors, "\n\n")+"\n\nthe end", " ")...))
	var history []scrollback.Message
	for i, v := range vectors {
		role := []scrollback.Role{scrollback.RoleUser, scrollback.RoleAssistant}[i%2]
		text := scrollback.Text{Text: strings.ReplaceAll(strings.ToValidUTF8(v, "?"), "\x00", "") + "\n\nplain " + v}
		history = append(history, scrollback.Message{Role: role, Name: name, Model: name, Parts: scrollback.Parts{text}})
	}
	c, _, err := d.rig.Create(d.Context(), scrollback.Conversation{Title: name, Project: "harbour"}, history...)
	if err != nil {
		t.Fatal(err)
	}
	d.do("hostile page", chromedp.EmulateViewport(1360, 900), chromedp.Navigate(d.url), chromedp.WaitVisible(writing),
		chromedp.Evaluate[chromedp.Void](`window.ran = []; window.x = () => { ran.push('x'); };
			for (const what of ['error', 'unhandledrejection']) addEventListener(what, (e) => ran.push(what + ' ' + (e.message || e.reason)));
			document.addEventListener('securitypolicyviolation', (e) => ran.push(e.violatedDirective + ' ' + e.blockedURI)); location.hash = '#`+
			string(c.ID)+`'`), chromedp.WaitVisible(".msg .markup"))
	d.do("hostile answer", chromedp.SendKeys(writing, "go on\r"), chromedp.WaitVisible(".writing, .msg.assistant"),
		until(`[...document.querySelectorAll('.msg.assistant:not(.writing) .markup')].some(n => n.innerText.includes('the end'))`))
	d.eval(`document.querySelectorAll('.markup *').forEach(n => { for (const k of ['mouseover', 'focus', 'error', 'load', 'toggle', 'animationstart'])
		n.dispatchEvent(new Event(k)); })`)
	d.is("what ran", `JSON.stringify(window.ran)`, "[]")
	d.is("other hosts", `performance.getEntriesByType('resource')
		.filter(r => !r.name.startsWith(location.origin) && !r.name.startsWith('data:')).length`, "0")
	d.is("addresses", `JSON.stringify([...document.querySelectorAll('.markup a, .markup img')].map(n => new URL(n.href || n.src, location).protocol)
		.filter(p => !['http:', 'https:', 'mailto:', 'data:'].includes(p)))`, "[]")
	d.is("elements", `document.querySelectorAll('.markup :is(script, style, iframe, object, embed, form, link, meta, base, svg, template, ' +
		'noscript, video, audio)').length`, "0")
	d.is("ids", `[...document.querySelectorAll('.markup [id]')].every(n => n.id.startsWith('md-'))`, "true")
	d.is("formulas", `document.querySelectorAll('.markup math').length > 0`, "true")
	d.is("the composer", `document.querySelectorAll('.composer textarea').length`, "1")
}

package server_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/compact"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// Projects are set up on the page, and what is stored of one is taken away again without
// touching its conversations.
func TestPageProjects(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	d := newShelf(t, shelf, modeltest.Say("fine"))
	d.do("projects", chromedp.Navigate(d.url+"/#:projects"), chromedp.WaitVisible(`.entries a[href="#:projects/harbour"]`))
	d.do("a project", chromedp.Click(`.entries a[href="#:projects/harbour"]`), chromedp.WaitVisible(".paper textarea"),
		chromedp.SendKeys(".paper textarea", "Give times in UTC."),
		chromedp.SetValue(`.paper .policy select`, "rolling"))
	d.eval(`(document.querySelector('.paper .policy select').dispatchEvent(new Event('change', { bubbles: true })), 1)`)
	d.press(".paper .policy .link")
	d.do("numbers", chromedp.WaitVisible(".figure input"))
	d.is("the preset that is shown", `[...document.querySelectorAll('.figure')].find(f => `+
		`f.innerText.includes('trigger_messages')).querySelector('input').placeholder`, "12")
	d.eval(`(() => { const x = [...document.querySelectorAll('.figure')].find(f => f.innerText.includes('keep_share')).querySelector('input');
		x.value = '7'; x.dispatchEvent(new InputEvent('input', { bubbles: true })); return 1; })()`)
	d.press(`.paper [type="submit"]`)
	d.do("a number out of bounds", chromedp.WaitVisible(".figure.wrong em"))
	d.eval(`(() => { const x = document.querySelector('.figure.wrong input'); x.value = '0.4'; x.dispatchEvent(new ` +
		`InputEvent('input', { bubbles: true })); return 1; })()`)
	d.press(`.paper [type="submit"]`)
	d.do("a project saved", chromedp.WaitVisible(".paper .bad"))
	p, err := d.rig.Projects().Get(t.Context(), "harbour")
	if err != nil || p.Instructions != "Give times in UTC." || p.Policy != "rolling" ||
		p.Settings.Compaction["keep_share"] != 0.4 {
		t.Errorf("stored is %+v, %v", p, err)
	}
	d.press(".paper .bad")
	d.do("whether to delete it", chromedp.WaitVisible(".ask-sheet .danger"))
	d.is("what has the focus", `document.activeElement.innerText`, "Cancel")
	d.press(".ask-sheet .danger")
	d.until("the list again", `location.hash === '#:projects'`)
	p, err = d.rig.Projects().Get(t.Context(), "harbour")
	if err != nil || p.Instructions != "" || p.Conversations != 3 {
		t.Errorf("left is %+v, %v", p, err)
	}
	d.do("projects on a phone", chromedp.EmulateViewport(390, 844), chromedp.Navigate(d.url+"/#:projects/lab"),
		chromedp.Reload(),
		chromedp.WaitVisible(".paper textarea"))
	d.is("wider than the phone", `document.documentElement.scrollWidth > innerWidth`, "false")
}

// What the page says of the policies' numbers, and their bounds, is what compaction takes.
func TestPageKnowsThePolicies(t *testing.T) {
	t.Parallel()
	d := newShelf(t, shelf[:1], modeltest.Say("fine"))
	d.do("open", chromedp.Navigate(d.url+bySources), chromedp.WaitVisible(".rows .row"))
	var says struct {
		Presets map[string]map[string]float64
		Groups  []struct{ Numbers [][3]any }
	}
	raw, err := chromedp.Run(d.ctx,
		chromedp.Evaluate[string](`(async () => {
			await (await import('/assets/state/offered.js')).learnLimits();
			const x = await import('/assets/state/policies.js');
			const numbers = x.groups().flatMap((g) => g.numbers.map(([n]) => n));
			const own = (p) => Object.fromEntries(numbers.map((n) => [n, x.own(p, n)]));
			return JSON.stringify({ Presets: Object.fromEntries(x.names().map((p) => [p, own(p)])), Groups: x.groups() });
		})()`, chromedp.EvalAwaitPromise))
	if err == nil {
		err = json.Unmarshal([]byte(raw), &says)
	}
	if err != nil || len(says.Presets) != len(compact.Names()) {
		t.Fatalf("%.200s, %v", raw, err)
	}
	for name, numbers := range says.Presets {
		p, err := compact.FindPolicy(name, true)
		if err != nil || !maps.Equal(p.Numbers(), numbers) {
			t.Errorf("%s has %v, the page says %v, %v", name, p.Numbers(), numbers, err)
		}
	}
	outside := func(number string, v float64) bool {
		_, err := compact.FindPolicy("segments", true, map[string]float64{number: v})
		return err != nil && strings.Contains(err.Error(), number+" is a")
	}
	for _, g := range says.Groups {
		for _, n := range g.Numbers {
			number := n[0].(string)
			least := n[1].(float64)
			most := n[2].(float64)
			if outside(number, least) || outside(number, most) || !outside(number, least-1) || !outside(number, most+1) {
				t.Errorf("%s goes from %v to %v, says the page", number, least, most)
			}
		}
	}
}

// The settings say what this browser keeps and what the server does.
func TestPageSettings(t *testing.T) {
	t.Parallel()
	d := newShelf(t, shelf[:2], modeltest.Say("fine"))
	d.do("appearance", chromedp.Navigate(d.url+"/#:settings"), chromedp.WaitVisible(".pick"))
	d.press(`[aria-label="Density"] button:nth-child(2)`)
	d.press(`[aria-label="Single-letter keys"] button:nth-child(2)`)
	d.do("compact", chromedp.WaitVisible(`html[data-density="compact"]`), chromedp.Reload(),
		chromedp.WaitVisible(`html[data-density="compact"] .pick`), chromedp.WaitVisible(".rows .row"))
	d.is("what is remembered",
		`[...document.querySelectorAll('.pick [aria-checked="true"]')].map(x => x.innerText).join('|')`,
		"English|same as system|compact|off")
	d.is("rows are as high as they are said to be",
		`[...new Set([...document.querySelectorAll('.rows .row')].map(x => x.offsetHeight))].join()`, "32")
	d.press(`.preferences a[href="#:settings/models"]`)
	d.do("models", chromedp.WaitVisible(".numbers"))
	d.press(`.preferences a[href="#:settings/limits"]`)
	d.do("limits", chromedp.WaitVisible(".facts-of"))
	d.until("the limits", `document.querySelector('.facts-of').innerText.includes('200,000') && `+
		`document.querySelector('.facts-of').innerText.includes('20 MB')`)
	d.press(`.preferences a[href="#:settings/account"]`)
	d.until("who one is", `document.querySelector('.facts-of').innerText.includes('operator')`)
	d.do("account")
	d.press(`.preferences a[href="#:settings/keys"]`)
	d.do("keys", chromedp.WaitVisible(".add"), chromedp.SendKeys(".add input[type=text]", "ben <b>"))
	d.press(".add .several input")
	d.do("door", chromedp.SetValue(".add label:has(option[value=record]) select", "record"))
	d.eval(`document.querySelector('.add label:has(option[value=record]) select').dispatchEvent(new Event('change', { bubbles: true }))`)
	d.press(`.add [type="submit"]`)
	d.do("a key", chromedp.WaitVisible(".secret input"))
	all, err := d.rig.Store.Keys.List(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "ben <b>" || len(all[0].Projects) != 1 ||
		all[0].Role != scrollback.AccessWrite || all[0].Door != "record" {
		t.Fatalf("the keys are %+v, %v", all, err)
	}
	secret := d.eval(`document.querySelector('.secret input').value`)
	if k, err := d.rig.Store.Keys.Find(t.Context(), secret); err != nil || k.ID != all[0].ID {
		t.Errorf("what is shown is not the secret: %v", err)
	}
	d.do("the key later", chromedp.Reload(), chromedp.WaitVisible(".entries .usable"))
	d.is("the secret is shown once", `document.documentElement.innerHTML.includes('`+secret+`')`, "false")
	d.press(".entries .usable button")
	d.press(".ask-sheet .danger")
	d.do("revoked", chromedp.WaitVisible(".entries .revoked"))
	d.do("keys in Chinese", chromedp.Click(`.sidebar [lang="zh-CN"]`), chromedp.WaitVisible(`html[lang="zh-CN"]`))
	d.do("keys on a phone", chromedp.EmulateViewport(390, 844), chromedp.WaitVisible(".entries .revoked"))
	d.is("wider than the phone", `document.documentElement.scrollWidth > innerWidth`, "false")
}

// The page offers what the server lists, and has words in both languages for all of it but policies: one
// without words is shown by its name.
func TestPageHasWordsForWhatIsOffered(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.do("offered", chromedp.Navigate(d.url+bySources), chromedp.WaitVisible(writing))
	missing, err := chromedp.Run(d.ctx, chromedp.Evaluate[string](`(async () => {
		const { areas } = await import('/assets/state/words.js');
		const has = (l, key) => Object.values(areas).some((a) => Object.hasOwn(a[l], key));
		const l = await (await fetch('/api/limits')).json();
		const keys = [...l.policy_numbers.map((n) => 'set.n.' + n.name),
			...l.exports.flatMap((f) => ['side.export.' + f, 'side.export.' + f + '.about'])];
		if (l.policies.length < 4 || l.policy_numbers.length < 20 || l.exports.length < 7 || l.tools.length < 12) return 'too few: ' + JSON.stringify(l);
		return ['en', 'zh'].flatMap((lang) => keys.filter((key) => !has(lang, key)).map((key) => lang + ' ' + key)).join();
	})()`, chromedp.EvalAwaitPromise))
	if err != nil || missing != "" {
		t.Errorf("no words for %s (%v)", missing, err)
	}
}

package token

import (
	"cmp"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/lazyregexp"
)

// A model has many names: with the date of a snapshot, the prefix of a reseller,
// or the name of a format. Only parts that are known to be such are taken off a name;
// everything else, sizes above all, distinguishes models.

// makers gives the maker of the models that a provider serves as its own.
var makers = map[string]string{"openai": "openai", "anthropic": "anthropic", "gemini": "google", "deepseek": "deepseek",
	"xai": "x-ai", "moonshot": "moonshotai", "dashscope": "qwen"}

// hosts serve other makers' models with the windows they were made for. Anywhere else,
// and above all on your own server, only the server knows its window.
var hosts = map[string]bool{"openrouter": true, "poe": true, "ark": true, "dashscope": true}

// ranks orders providers if several have a model: the makers first.
var ranks = []string{"openai", "anthropic", "gemini", "deepseek", "xai", "moonshot", "ark", "dashscope", "openrouter"}

// orgs gives other names of makers; packers publish everybody's models in other formats.
var (
	orgs = map[string]string{"gemini": "google", "deepseek-ai": "deepseek", "xai": "x-ai", "moonshot": "moonshotai",
		"alibaba":   "qwen",
		"dashscope": "qwen", "meta": "meta-llama", "mistral": "mistralai", "minimaxai": "minimax", "zai": "z-ai",
		"zai-org": "z-ai", "zhipu": "z-ai"}
	packers = map[string]bool{"unsloth": true, "bartowski": true, "lmstudio-community": true, "mlx-community": true,
		"thebloke": true,
		"ggml-org": true, "quantfactory": true, "mradermacher": true, "maziyarpanahi": true, "redhatai": true,
		"neuralmagic":    true,
		"hugging-quants": true, "casperhansen": true, "intel": true, "nvidia": true, "library": true}
)

// renamed are names that a provider keeps while the model behind them changes.
var renamed = map[string]string{"deepseek/deepseek-chat": "deepseek/deepseek-v4-flash",
	"deepseek/deepseek-reasoner": "deepseek/deepseek-v4-flash"}

// families give the makers of models that a host lists by their bare names.
var families = map[string]string{"qwen": "qwen", "glm": "z-ai", "kimi": "moonshotai", "deepseek": "deepseek",
	"doubao": "bytedance"}

// services are OpenRouter's suffixes, and whether the price stays the same with them.
var services = map[string]bool{"free": false, "nitro": false, "floor": false, "online": false, "thinking": true,
	"exacto": true, "extended": true, "latest": true}

const (
	month = `(0[1-9]|1[0-2])`
	day   = `(0[1-9]|[12][0-9]|3[01])`
	year  = `20[1-4][0-9]`
)

var (
	namespace = lazyregexp.New(`^(models|openrouter|hf\.co|huggingface\.co|@cf|@hf|(accounts|publishers)/[^/]+/models)/`)
	pointP    = lazyregexp.New(`([0-9])p([0-9])`) // 5p2, as Fireworks writes 5.2
	sizeTag   = lazyregexp.New(`:([0-9.]+b)`)     // qwen3:8b, as Ollama writes qwen3-8b
	packaging = lazyregexp.New(`[-_.:@](gguf|ggml|mlx|onnx|hf|exl[23]|awq|gptq|bnb|hqq|dwq|qat|i1|autoround|unsloth|[0-9]{5}-of-[0-9]{5}` +
		`|fp(4|8|16|32)(-dynamic|-block|-fast)?|mxfp[48]|nvfp4|bf16|f16|f32|int[248]|w[0-9]{1,2}a[0-9]{1,2}|[2-8]-?bit|[0-9](\.[0-9]+)?bpw` +
		`|(ud-)?i?q[1-8](_([01klms]|xs|xl|xxs|nl))*)$`)
	openAIs = lazyregexp.New(`^((chat)?gpt-|o[1-9]|codex|computer-use)`)
	dated   = lazyregexp.New(`([-@]` + year + `-` + month + `-` + day + `|[-@]` + year + month + day + `|-` + month +
		`-` + day + `|[-@]latest|@default)$`)
	preview = lazyregexp.New(`-(preview|exp|experimental|beta)(-` + month + `-?` + day + `|-` + month + `-` + year +
		`)?$`)
	shortDate = lazyregexp.New(`^(gpt-.*|grok-.*|qwen-(plus|max|turbo|flash))(-` + month + day + `)$`)
	ownDate   = lazyregexp.New(`^(gemini-.*)(-00[1-9])$|^(doubao-.*)(-2[0-9]` + month + day + `)$`)
)

// cutTag takes a date, or the mark of a preview, off the end of a name. The short dates
// are only those of families where they mark snapshots: deepseek-r1-0528 is not
// deepseek-r1.
//
// The index of all known names comes by here in every program that asks for a model, so what cannot match is told
// apart without an expression first.
func cutTag(name string, first bool) string {
	numbered := name != "" && name[len(name)-1] >= '0' && name[len(name)-1] <= '9'
	if numbered || strings.HasSuffix(name, "latest") || strings.HasSuffix(name, "@default") {
		if at := dated().FindStringIndex(name); at != nil {
			return name[:at[0]]
		}
	}
	// OpenAI's previews are separate models: o1-preview has another window than o1.
	if strings.Contains(name, "-preview") || strings.Contains(name, "-exp") || strings.Contains(name, "-beta") {
		if at := preview().FindStringIndex(name); at != nil && !openAIs().MatchString(name) {
			return name[:at[0]]
		}
	}
	if !numbered || !first {
		return name
	}
	if m := shortDate().FindStringSubmatch(name); m != nil {
		return m[1]
	}
	if m := ownDate().FindStringSubmatch(name); m != nil {
		return m[1] + m[3]
	}
	return name
}

// nameForm is a name with something taken off; priced says that the price still holds.
type nameForm struct {
	name   string
	priced bool
}

// nameForms returns the names that a model may be known by, from the smallest change to the
// largest.
func nameForms(name string) []nameForm {
	out := []nameForm{{name, true}}
	add := func(next string, priced bool) bool {
		if next == name || next == "" {
			return false
		}
		name = next
		out = append(out, nameForm{next, priced && out[len(out)-1].priced})
		return true
	}
	if at := strings.LastIndexByte(name, ':'); at > 0 {
		if priced, ok := services[name[at+1:]]; ok {
			add(name[:at], priced)
		}
	}
	for range 6 {
		if at := packaging().FindStringIndex(name); at == nil || !add(name[:at[0]], true) {
			break
		}
	}
	for n := range 2 {
		if !add(cutTag(name, n == 0), true) {
			break
		}
	}
	return out
}

var dashes = strings.NewReplacer(".", "-", "_", "-")

// nameKey returns a name as it is compared: 4.5 is 4-5.
func nameKey(name string) string {
	if strings.Contains(name, ":") {
		name = sizeTag().ReplaceAllString(name, "-$1")
	}
	return dashes.Replace(name)
}

// askedModel is the parts of a model's name: who serves it, who made or packed it, and what
// it is called, all in lower case, of which the first two may be empty; and the whole
// name as it was given.
type askedModel struct{ provider, org, name, whole string }

func parseName(name string) askedModel {
	a := askedModel{whole: name}
	name = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "models/")
	a.provider, a.name, _ = strings.Cut(name, "/")
	switch {
	case a.name == "":
		a.provider = ""
		a.name = name
	case a.provider == "":
		a.name = "" // it begins with a slash
	case namespace().MatchString(name) && a.provider != "openrouter":
		a.name = name
	}
	if strings.Contains(a.name, "accounts/fireworks/") {
		a.name = pointP().ReplaceAllString(a.name, "$1.$2")
	}
	for range 3 {
		if strings.Contains(a.name, "/") {
			a.name = a.name[len(namespace().FindString(a.name)):]
		}
	}
	if at := strings.LastIndexByte(a.name, '/'); at >= 0 {
		a.org = a.name[:at]
		a.name = a.name[at+1:]
		a.org = a.org[strings.LastIndexByte(a.org, '/')+1:]
		a.org = cmp.Or(orgs[a.org], a.org)
	}
	return a
}

// catalogEntry is a model of the catalog as one of its names finds it.
type catalogEntry struct {
	name            string
	provider, maker string
	changed         bool // its date was taken off
	kept            bool // found by a name that only its provider uses for it
}

// nameIndex finds entries by key.
type nameIndex map[string][]catalogEntry

func (x nameIndex) addName(name string) {
	a := parseName(name)
	e := catalogEntry{name: name, provider: a.provider, maker: cmp.Or(a.org, makers[a.provider])}
	if hosts[a.provider] && a.org == "" {
		e.maker = families[a.name[:strings.IndexAny(a.name+"-", "-0123456789")]]
	}
	for n, f := range []string{a.name, cutTag(a.name, true)} {
		if e.changed = n > 0; !e.changed || f != a.name && !strings.HasSuffix(a.name, "-latest") {
			x[nameKey(f)] = append(x[nameKey(f)], e)
		}
	}
}

// sortEntries orders the entries of each key: exact names first, then by the rank of the
// provider, then the newest date first.
func (x nameIndex) sortEntries() nameIndex {
	for _, entries := range x {
		slices.SortFunc(entries, func(a, b catalogEntry) int {
			return cmp.Or(compareBool(a.changed, b.changed),
				cmp.Compare(slices.Index(ranks, a.provider), slices.Index(ranks, b.provider)), cmp.Compare(b.name, a.name))
		})
	}
	return x
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// matchesMaker reports whether an entry may be the model that was asked for, by its maker.
func (a askedModel) matchesMaker(e catalogEntry) bool {
	return a.org == "" || a.org == e.maker || packers[a.org]
}

// servesWindow reports whether the provider asked serves the window that an entry has.
func (a askedModel) servesWindow(e catalogEntry) bool {
	switch {
	case a.provider == "" || hosts[a.provider]:
		return true
	case makers[a.provider] == "":
		return false
	}
	return a.provider == e.provider || makers[a.provider] == e.maker
}

// chargesPrice reports whether the provider asked charges what an entry says: OpenRouter
// charges what the makers charge, and so does a provider that is not named.
func (a askedModel) chargesPrice(e catalogEntry) bool {
	switch a.provider {
	case "", "openrouter":
		return a.provider == e.provider || makers[e.provider] == e.maker
	}
	return a.servesWindow(e) && a.provider == e.provider
}

// longestName bounds a name, in bytes.
const longestName = 200

// resolveName finds the entry that a name leads to: its provider's own first, then those
// of others.
func (c *Catalog) resolveName(a askedModel) (found catalogEntry, priced, ok bool) {
	if len(a.name) > longestName || a.name == "" {
		return catalogEntry{}, false, false
	}
	all := nameForms(a.name)
	for _, elsewhere := range []bool{false, true} {
		for _, f := range all {
			if !elsewhere {
				if e, ok := firstMatch(c.names[nameKey(f.name)], a, false); ok && e.name != a.whole {
					return e, f.priced, true
				}
			}
			if e, ok := firstMatch(names()[nameKey(f.name)], a, elsewhere); ok {
				return e, f.priced, true
			}
		}
	}
	return catalogEntry{}, false, false
}

func firstMatch(entries []catalogEntry, a askedModel, elsewhere bool) (catalogEntry, bool) {
	for _, e := range entries {
		if elsewhere == (e.provider != a.provider) && a.matchesMaker(e) && (!e.kept || !elsewhere || a.provider == "") {
			return e, true
		}
	}
	return catalogEntry{}, false
}

// findAlias returns what is known about a model under a name that the catalog does not have.
func (c *Catalog) findAlias(name string) Facts {
	a := parseName(name)
	e, priced, ok := c.resolveName(a)
	if !ok {
		return Facts{}
	}
	f := c.own[e.name].fillFrom(entries()[e.name])
	f.Known = true
	if f.As = e.name; e.name == name {
		f.As = ""
	}
	if f.Factor == 0 {
		f.Factor = defaultFactor(e.name)
	}
	if !a.servesWindow(e) {
		f.Limit = 0
		f.MaxOutput = 0
	}
	if !priced || !a.chargesPrice(e) {
		f.Price = nil
	}
	return f
}

package window

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/scrollback-ai/scrollback"
)

// Rules returns the table that Lint runs: what every provider's wire demands, then
// what some do.
func Rules() []Rule {
	return slices.Concat(contentRules(), answerRules(), turnRules(), spellingRules(), imageRules())
}

func contentRules() []Rule {
	return []Rule{
		{"role", "the role is system, user, assistant or tool",
			"an unknown role is refused",
			nil, eachItem(knownRole)},
		{"empty", "an item has parts",
			"a message without content is refused",
			nil, eachItem(func(it scrollback.Item, _ scrollback.Dialect) string {
				return describeBreach(len(it.Parts) == 0, "it is empty")
			})},
		{"place",
			"images and files stand in a user's item, calls and reasoning in an assistant's, results, and they alone, in a tool's",
			"each role has its own kinds of content",
			nil, eachItem(inPlace)},
		{"well-formed", "every text, arguments and payloads included, can be written as UTF-8",
			"half a surrogate pair is refused: “no low surrogate in string”, “invalid Unicode code point”",
			nil, eachItem(func(it scrollback.Item, _ scrollback.Dialect) string {
				fixed := it.Parts.WellFormed()
				return describeBreach(!utf8.ValidString(it.Name) || len(fixed) > 0 && &fixed[0] != &it.Parts[0],
					"a text is not well-formed")
			})},
		{"empty-text", "a text has at least one character, or a payload that its model wants back",
			"an empty text is refused, or leaves a message empty",
			nil, eachPart(func(t scrollback.Text, _ scrollback.Dialect) string {
				return describeBreach(t.Text == "" && !hasPayload(t.Opaque), "a text is empty")
			})},
		{"blank-text", "a text is more than white space",
			"“text content blocks must contain non-whitespace text”",
			func(d scrollback.Dialect) bool { return d.NoBlank },
			eachPart(func(t scrollback.Text, _ scrollback.Dialect) string {
				return describeBreach(t.Text != "" && isBlank(t.Text), "a text is white space only")
			})},
		{"arguments", "the arguments of a call are JSON",
			"a call that a stream cut off cannot be read by the model's server",
			nil, eachPart(func(c scrollback.ToolCall, _ scrollback.Dialect) string {
				return describeBreach(!json.Valid(c.Arguments), "the arguments of call %q are not JSON", c.ID)
			})},
		{"object-arguments", "the arguments of a call are a JSON object",
			"the wire has a field for an object, not for a text",
			func(d scrollback.Dialect) bool { return d.ObjectArguments },
			eachPart(func(c scrollback.ToolCall, _ scrollback.Dialect) string {
				return describeBreach(json.Valid(c.Arguments) && !isObject(c.Arguments), "the arguments of call %q are no object",
					c.ID)
			})},
		{"reasoning-signed", "reasoning has its signature",
			"a thinking block without a signature is refused",
			func(d scrollback.Dialect) bool { return d.SignedReasoning },
			eachPart(func(r scrollback.Reasoning, _ scrollback.Dialect) string {
				return describeBreach(!signed(r), "reasoning has no signature")
			})},
	}
}

func answerRules() []Rule {
	alone := func(d scrollback.Dialect) bool { return d.ResultsAlone }
	return []Rule{
		{"call-id", "a call has an id, and no other call of its item has it",
			"its result could not be told from another's",
			nil, eachItem(distinctCalls)},
		{"unique-ids", "no two calls of a window have one id",
			"“tool_use ids must be unique”",
			func(d scrollback.Dialect) bool { return d.UniqueIDs }, uniqueIDs},
		{"orphan", "a result answers a call that is open, once",
			"a result without its call is refused",
			nil, eachAnswer(orphan)},
		{"answered", "every call is answered before anything else is said",
			"“must be followed by tool messages responding to each tool_call_id”; “tool_use ids were found without tool_result blocks immediately after”",
			nil, eachAnswer(unanswered)},
		{"results-together", "the results of one turn's calls are one item",
			"“the number of function response parts is equal to the number of function call parts”; results count in the very next turn only",
			alternates, eachTurn(func(before, it scrollback.Item) string {
				return describeBreach(before.Role == scrollback.RoleTool && it.Role == before.Role,
					"the results of one turn are two items")
			})},
		{"results-alone", "the turn after results is the model's",
			"a function response turn holds nothing but the responses",
			alone, eachTurn(func(before, it scrollback.Item) string {
				return describeBreach(before.Role == scrollback.RoleTool && it.Role == scrollback.RoleUser,
					"a user speaks in the turn of results")
			})},
		{"results-in-order", "results stand in the order of their calls",
			"calls without ids are matched by their place",
			alone, eachAnswer(outOfOrder)},
		{"result-name", "a result has the name of its call",
			"calls without ids are matched by their names",
			alone, eachAnswer(misnamed)},
	}
}

func turnRules() []Rule {
	return []Rule{
		{"system-front", "system items stand before the first turn",
			"the wire has one place for instructions, apart from the turns",
			func(d scrollback.Dialect) bool { return d.Alternates && !d.NoSystem }, systemFront},
		{"no-system", "there is no system item",
			"“System role not supported”: the chat template has none",
			func(d scrollback.Dialect) bool { return d.NoSystem },
			eachItem(func(it scrollback.Item, _ scrollback.Dialect) string {
				return describeBreach(it.Role == scrollback.RoleSystem, "a system item")
			})},
		{"turns", "user and assistant take turns",
			"“multiturn requests alternate between user and model”; “roles must alternate”",
			alternates, eachTurn(func(before, it scrollback.Item) string {
				same := it.Role == before.Role && (it.Role == scrollback.RoleUser || it.Role == scrollback.RoleAssistant)
				return describeBreach(same, "two %s items in a row", it.Role)
			})},
		{"user-first", "the first turn is the user's",
			"“first message must use the \"user\" role”; a function call comes “immediately after a user turn”",
			alternates, eachTurn(func(before, it scrollback.Item) string {
				return describeBreach(before.Role == "" && it.Role == scrollback.RoleAssistant, "the assistant speaks first")
			})},
		{"user-last", "the last turn is the user's, or results",
			"“The conversation must end with a user message”; it would go on with its own words",
			alternates, atEnd(func(last scrollback.Item) string {
				return describeBreach(last.Role == scrollback.RoleAssistant, "the assistant has the last word")
			})},
		{"something", "there is a turn",
			"instructions travel apart, and a request without a turn is refused",
			alternates, atEnd(func(last scrollback.Item) string {
				return describeBreach(last.Role == "", "there is no turn")
			})},
	}
}

func spellingRules() []Rule {
	return []Rule{
		{"id-spelling", "a call's id is spelled as the wire wants it",
			"an id too long, or with other characters, is refused",
			func(d scrollback.Dialect) bool { return d.CallID != "" }, idSpelling},
		{"name-spelling", "a call's name is spelled as the wire wants it, or the request defines that tool",
			"a name too long, or with other characters, is refused",
			func(d scrollback.Dialect) bool { return d.CallName != "" }, nameSpelling},
		{"speaker-spelling", "the name of who speaks is spelled as the wire wants it",
			"a name with blanks is refused",
			func(d scrollback.Dialect) bool { return d.SpeakerName != "" }, speakerSpelling},
	}
}

func imageRules() []Rule {
	return []Rule{
		{"image-type", "an image is of a type that the provider takes",
			"another media type is refused",
			func(d scrollback.Dialect) bool { return d.ImageTypes != "" },
			eachPart(func(p scrollback.Image, d scrollback.Dialect) string {
				return describeBreach(!acceptsType(d, p), "an image is %q, not one of %s", p.MediaType, d.ImageTypes)
			})},
		{"image-place", "an image at an address is for a provider that fetches it",
			"the others take bytes, and the address as their name",
			func(d scrollback.Dialect) bool { return !d.ImageURLs },
			eachPart(func(p scrollback.Image, d scrollback.Dialect) string {
				return describeBreach(!acceptsAddress(d, p), "an image is at an address")
			})},
		{"image-bytes", "an image is no bigger than the provider takes",
			"“image exceeds 5 MB maximum”, counted as base64",
			func(d scrollback.Dialect) bool { return d.MaxImageBytes > 0 },
			eachPart(func(p scrollback.Image, d scrollback.Dialect) string {
				return describeBreach(!acceptsBytes(d, p), "an image of %d bytes is over %d", p.Size, d.MaxImageBytes)
			})},
		{"image-side", "an image is no wider or higher than the provider takes",
			"an image over 8,000 pixels a side is refused",
			func(d scrollback.Dialect) bool { return d.MaxImageSide > 0 },
			eachPart(func(p scrollback.Image, d scrollback.Dialect) string {
				return describeBreach(!acceptsSide(d, p), "an image of %d × %d pixels is over %d", p.Width, p.Height,
					d.MaxImageSide)
			})},
	}
}

func alternates(d scrollback.Dialect) bool { return d.Alternates }

// describeBreach returns words about a breach, if it is one.
func describeBreach(breach bool, format string, args ...any) string {
	if !breach {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func knownRole(it scrollback.Item, _ scrollback.Dialect) string {
	if _, err := scrollback.ParseRole(string(it.Role)); err != nil {
		return err.Error()
	}
	return ""
}

func inPlace(it scrollback.Item, _ scrollback.Dialect) string {
	for _, p := range it.Parts {
		ok := true
		switch p.(type) {
		case scrollback.Text:
			ok = it.Role != scrollback.RoleTool
		case scrollback.Image, scrollback.File:
			ok = it.Role != scrollback.RoleTool && it.Role != scrollback.RoleAssistant && it.Role != scrollback.RoleSystem
		case scrollback.ToolCall, scrollback.Reasoning:
			ok = it.Role == scrollback.RoleAssistant
		case scrollback.ToolResult:
			ok = it.Role == scrollback.RoleTool
		}
		if !ok {
			return fmt.Sprintf("a %T may not stand in a %s item", p, it.Role)
		}
	}
	return ""
}

func distinctCalls(it scrollback.Item, _ scrollback.Dialect) string {
	seen := map[string]bool{"": true}
	for _, c := range it.Parts.Calls() {
		if seen[c.ID] {
			return fmt.Sprintf("call id %q is empty or comes twice", c.ID)
		}
		seen[c.ID] = true
	}
	return ""
}

// uniqueIDs judges ids across items; within one item, call-id does.
func uniqueIDs(w scrollback.Window, _ scrollback.Dialect) (int, string) {
	at := map[string]int{}
	for i, it := range w.Items {
		for _, c := range it.Parts.Calls() {
			if j, ok := at[c.ID]; ok && j != i {
				return i, fmt.Sprintf("call id %q came before", c.ID)
			}
			at[c.ID] = i
		}
	}
	return 0, ""
}

func orphan(it scrollback.Item, open []scrollback.ToolCall) string {
	for _, r := range it.Parts.Results() {
		if it.Role == scrollback.RoleTool && callIndex(open, r) < 0 {
			return fmt.Sprintf("result %q answers no open call", r.CallID)
		}
		open = withoutCall(open, r.CallID)
	}
	return ""
}

func unanswered(it scrollback.Item, open []scrollback.ToolCall) string {
	if it.Role == scrollback.RoleTool || len(open) == 0 {
		return ""
	}
	return fmt.Sprintf("call %q is not answered before it", open[0].ID)
}

// outOfOrder judges the results in one item; results-together does the rest.
func outOfOrder(it scrollback.Item, open []scrollback.ToolCall) string {
	last := -1
	for _, r := range it.Parts.Results() {
		i := callIndex(open, r)
		if i >= 0 && i < last {
			return fmt.Sprintf("result %q stands behind that of a later call", r.CallID)
		}
		last = max(last, i)
	}
	return ""
}

func misnamed(it scrollback.Item, open []scrollback.ToolCall) string {
	for _, r := range it.Parts.Results() {
		if i := callIndex(open, r); i >= 0 && open[i].Name != r.Name {
			return fmt.Sprintf("result %q is named %q, its call %q", r.CallID, r.Name, open[i].Name)
		}
	}
	return ""
}

func idSpelling(w scrollback.Window, d scrollback.Dialect) (int, string) {
	p := compilePattern(d.CallID)
	return eachPart(func(c scrollback.ToolCall, _ scrollback.Dialect) string {
		return describeBreach(c.ID != "" && !matchesPattern(p, c.ID), "call id %q is not spelled as %s", c.ID, d.CallID)
	})(w, d)
}

func nameSpelling(w scrollback.Window, d scrollback.Dialect) (int, string) {
	p := compilePattern(d.CallName)
	defined := toolNames(w.Tools)
	return eachPart(func(c scrollback.ToolCall, _ scrollback.Dialect) string {
		return describeBreach(!defined[c.Name] && !matchesPattern(p, c.Name), "call name %q is not spelled as %s", c.Name,
			d.CallName)
	})(w, d)
}

func speakerSpelling(w scrollback.Window, d scrollback.Dialect) (int, string) {
	p := compilePattern(d.SpeakerName)
	return eachItem(func(it scrollback.Item, _ scrollback.Dialect) string {
		sent := it.Role != scrollback.RoleTool && it.Name != ""
		return describeBreach(sent && !matchesPattern(p, it.Name), "name %q is not spelled as %s", it.Name, d.SpeakerName)
	})(w, d)
}

func systemFront(w scrollback.Window, _ scrollback.Dialect) (int, string) {
	turns := false
	for i, it := range w.Items {
		if turns && it.Role == scrollback.RoleSystem {
			return i, "a system item stands after the first turn"
		}
		turns = turns || it.Role != scrollback.RoleSystem
	}
	return 0, ""
}

package modeltest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
)

// geminiStandIn is the signature that Google documents for calls of other models.
const geminiStandIn = "skip_thought_signature_validator"

// signed judges what was given out to be sent back. The real server looks at the
// calls of the present turn; this one looks at everything, so that nothing is lost
// unseen.
func (g *gemini) signed(id string, q geminiRequest) *Refused {
	for i, c := range q.Contents {
		if c.Role != "model" {
			continue
		}
		if why := g.turn(id, i, c); why != nil {
			return why
		}
	}
	return nil
}

func (g *gemini) turn(id string, at int, c geminiContent) *Refused {
	var found []string
	text, thoughts, called := "", "", false
	for _, p := range c.Parts {
		switch {
		case p.Text != nil && p.Thought:
			thoughts += *p.Text
		case p.Text != nil:
			text += *p.Text
		}
		if f := p.FunctionCall; f != nil {
			if f.ID != "" && g.ids[f.ID] != id {
				return geminiInvalid("foreign-id", "Function call id %q is unknown.", f.ID)
			}
			if !called && geminiSigns(id) && p.ThoughtSignature == "" {
				return geminiInvalid("signature-missing", "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", f.Name, at+1)
			}
			standsIn := p.ThoughtSignature == geminiStandIn && !called && f.ID == "" && geminiSigns(id)
			if called = true; standsIn {
				continue
			}
		}
		if p.ThoughtSignature == "" {
			continue
		}
		given, ok := g.given[p.ThoughtSignature]
		if !ok || g.answers[given.answer].model != id || given.part != geminiBare(p) {
			return geminiInvalid("signature-corrupted", "Corrupted thought signature.")
		}
		found = append(found, p.ThoughtSignature)
	}
	return g.whole(id, geminiAnswer{id, text, thoughts, found})
}

// whole judges that an answer of the model, known again by its words or signatures,
// came back with all its signatures in order, and that no thoughts of others did.
func (g *gemini) whole(id string, c geminiAnswer) *Refused {
	same, thoughts := false, c.thoughts == ""
	mine := false
	for _, a := range g.answers {
		if a.model != id {
			continue
		}
		thoughts = thoughts || a.thoughts == c.thoughts
		if a.text != "" && a.text == c.text || slices.ContainsFunc(a.signatures, func(s string) bool { return slices.Contains(c.signatures, s) }) {
			mine = true
			same = same || slices.Equal(a.signatures, c.signatures)
		}
	}
	switch {
	case mine && !same:
		return geminiInvalid("signature-lost", "Corrupted thought signature.")
	case !thoughts:
		return geminiInvalid("foreign-thought", "Corrupted thought signature.")
	}
	return nil
}

// geminiBare is a part without its signature.
func geminiBare(p geminiPartial) string {
	p.ThoughtSignature = ""
	b, _ := json.Marshal(p) // our own types always encode
	return string(b)
}

// sign gives a part of the n-th answer a signature.
func (g *gemini) sign(n int, p *geminiPartial) {
	a := &g.answers[n]
	sum := sha256.Sum256([]byte(fmt.Sprintf("%d %d %s", n, len(a.signatures), a.model)))
	p.ThoughtSignature = base64.StdEncoding.EncodeToString(append([]byte{0x12, byte(n), 0xfb, 0xff}, sum[:]...))
	a.signatures = append(a.signatures, p.ThoughtSignature)
	g.given[p.ThoughtSignature] = geminiPart{n, geminiBare(*p)}
}

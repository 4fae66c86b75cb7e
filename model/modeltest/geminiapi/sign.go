package geminiapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// modelVersion returns that of a model: 3 of gemini-3.1-pro is 3.1.
func modelVersion(id string) float64 {
	v, _ := strconv.ParseFloat(number.FindString(id), 64)
	return v
}

var number = regexp.MustCompile(`\d+(\.\d+)?`)

// requiresSignature reports whether a model refuses calls without a signature.
func requiresSignature(id string) bool {
	return strings.HasPrefix(id, "gemini-") && modelVersion(id) >= 3
}

// standIn is the signature that Google documents for calls of other models.
const standIn = "skip_thought_signature_validator"

// checkSignatures judges what was given out to be sent back. The real server looks at the
// calls of the present turn; this one looks at everything, so that nothing is lost
// unseen.
func (s *server) checkSignatures(id string, q request) *modeltest.Refused {
	for i, c := range q.Contents {
		if c.Role != "model" {
			continue
		}
		if why := s.checkTurn(id, i, c); why != nil {
			return why
		}
	}
	return nil
}

func (s *server) checkTurn(id string, at int, c content) *modeltest.Refused {
	var found []string
	text := ""
	thoughts := ""
	called := false
	for _, p := range c.Parts {
		switch {
		case p.Text != nil && p.Thought:
			thoughts += *p.Text
		case p.Text != nil:
			text += *p.Text
		}
		if f := p.FunctionCall; f != nil {
			if f.ID != "" && s.ids[f.ID] != id {
				return refuseInvalid("foreign-id", "Function call id %q is unknown.", f.ID)
			}
			if !called && requiresSignature(id) && p.ThoughtSignature == "" {
				return refuseInvalid("signature-missing",
					"Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", f.Name, at+1)
			}
			standsIn := p.ThoughtSignature == standIn && !called && f.ID == "" && requiresSignature(id)
			if called = true; standsIn {
				continue
			}
		}
		if p.ThoughtSignature == "" {
			continue
		}
		given, ok := s.given[p.ThoughtSignature]
		if !ok || s.answers[given.answer].model != id || given.part != withoutSignature(p) {
			return refuseInvalid("signature-corrupted", "Corrupted thought signature.")
		}
		found = append(found, p.ThoughtSignature)
	}
	return s.checkComplete(id, keptAnswer{id, text, thoughts, found})
}

// checkComplete judges that an answer of the model, known again by its words or signatures,
// came back with all its signatures in order, and that no thoughts of others did.
func (s *server) checkComplete(id string, c keptAnswer) *modeltest.Refused {
	same := false
	thoughts := c.thoughts == ""
	mine := false
	for _, a := range s.answers {
		if a.model != id {
			continue
		}
		thoughts = thoughts || a.thoughts == c.thoughts
		if a.text != "" && a.text == c.text ||
			slices.ContainsFunc(a.signatures, func(given string) bool { return slices.Contains(c.signatures, given) }) {
			mine = true
			same = same || slices.Equal(a.signatures, c.signatures)
		}
	}
	switch {
	case mine && !same:
		return refuseInvalid("signature-lost", "Corrupted thought signature.")
	case !thoughts:
		return refuseInvalid("foreign-thought", "Corrupted thought signature.")
	}
	return nil
}

// withoutSignature returns a part without its signature.
func withoutSignature(p part) string {
	p.ThoughtSignature = ""
	b, _ := json.Marshal(p) // our own types always encode
	return string(b)
}

// signPart gives a part of the n-th answer a signature.
func (s *server) signPart(n int, p *part) {
	a := &s.answers[n]
	sum := sha256.Sum256([]byte(fmt.Sprintf("%d %d %s", n, len(a.signatures), a.model)))
	p.ThoughtSignature = base64.StdEncoding.EncodeToString(append([]byte{0x12, byte(n), 0xfb, 0xff}, sum[:]...))
	a.signatures = append(a.signatures, p.ThoughtSignature)
	s.given[p.ThoughtSignature] = signaturePlace{n, withoutSignature(*p)}
}

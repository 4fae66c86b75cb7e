package window

import "github.com/scrollback-ai/scrollback"

// Dialects lists the dialects of the providers, in the order of the guide.
func Dialects() []scrollback.Dialect {
	return []scrollback.Dialect{OpenAI(), WithStrictness(OpenAI(), scrollback.StrictTurns),
		WithStrictness(OpenAI(), scrollback.StrictNoSystem), Anthropic(), Gemini()}
}

// OpenAI returns chat completions, as OpenAI and compatible servers accept them. It leaves the
// ids of calls alone: servers keep things of their own in them, and differ in what they
// accept, which their client learns.
func OpenAI() scrollback.Dialect {
	return scrollback.Dialect{
		Name:        "openai",
		ImageURLs:   true,
		CallName:    `^[a-zA-Z0-9_-]{1,64}$`,
		SpeakerName: `^[^\s\p{Z}<|\\/>]{1,64}$`,
	}
}

// WithStrictness returns a dialect for a model whose chat template demands more than its server's
// wire does, as with many models that are served locally.
func WithStrictness(d scrollback.Dialect, s scrollback.Strictness) scrollback.Dialect {
	if s == scrollback.StrictNothing || d.Alternates {
		return d
	}
	d.Name = "strict"
	d.Alternates = true
	d.ResultsAlone = true
	if s == scrollback.StrictNoSystem {
		d.Name = "no-system"
		d.NoSystem = true
	}
	return d
}

// Anthropic returns the Messages API. It bounds an image at 5 MiB of base64.
func Anthropic() scrollback.Dialect {
	return scrollback.Dialect{
		Name:            "anthropic",
		Alternates:      true,
		NoBlank:         true,
		UniqueIDs:       true,
		ObjectArguments: true,
		SignedReasoning: true,
		CallID:          `^[a-zA-Z0-9_-]+$`,
		CallName:        `^[a-zA-Z0-9_-]{1,128}$`,
		ImageURLs:       true,
		ImageTypes:      "image/jpeg image/png image/gif image/webp",
		MaxImageBytes:   5 << 20 / 4 * 3,
		MaxImageSide:    8000,
	}
}

// Gemini is generateContent.
func Gemini() scrollback.Dialect {
	return scrollback.Dialect{
		Name:            "gemini",
		Alternates:      true,
		ResultsAlone:    true,
		ObjectArguments: true,
		CallName:        `^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`,
		ImageTypes:      "image/png image/jpeg image/webp image/heic image/heif",
	}
}

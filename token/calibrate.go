package token

// How a model's factor is learned from what its provider reports.
const (
	learnWeight = 0.2 // of the newest report
	leastFactor = 0.7
	mostFactor  = 2
	leastWindow = 500 // tokens; of less, what a provider adds by itself is too large a part
)

// clampFactor keeps a factor within the range by which tokenizers differ: beyond that
// something else was counted.
func clampFactor(f float64) float64 { return min(max(f, leastFactor), mostFactor) }

// LearnFactor returns a model's factor after its provider reported that a request which
// weighed sent o200k tokens was reported tokens long: a moving average within
// bounds. was is the factor so far, 0 for none. A request that is too short
// teaches nothing, and neither does a report of under half of what was sent: then the
// server truncated the prompt, or did not count what it had cached.
func LearnFactor(was float64, sent, reported int64) float64 {
	ratio := clampFactor(float64(reported) / float64(max(sent, 1)))
	switch {
	case reported <= 0 || sent < leastWindow || reported < sent-sent/2:
		if was <= 0 {
			return was
		}
		return clampFactor(was)
	case was <= 0:
		return ratio
	}
	return clampFactor(was + learnWeight*(ratio-was))
}

// RaiseFactor returns a model's factor after its server refused as too long a request which
// weighed sent o200k tokens, and said that it counted requested tokens, those of the
// answer left out: the ratio, within bounds, and never less than was, the factor so
// far, 0 for none. A request that is too short changes nothing.
func RaiseFactor(was float64, sent, requested int64) float64 {
	if sent < leastWindow || requested <= 0 {
		return was
	}
	ratio := clampFactor(float64(requested) / float64(sent))
	if was <= 0 && ratio < 1 {
		return was
	}
	return max(was, ratio)
}

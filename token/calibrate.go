package token

// How a model's factor is learned from what its provider reports.
const (
	learnWeight = 0.2 // of the newest report
	leastFactor = 0.5
	mostFactor  = 4
	leastWindow = 500 // tokens; of less, what a provider adds by itself is too large a part
)

// Learn is a model's factor after its provider reported that a request which
// weighed sent o200k tokens was reported tokens long: a moving average within
// bounds. was is the factor so far. A report of nothing, or of a request that is
// too short to tell, teaches nothing.
func Learn(was float64, sent, reported int64) float64 {
	if reported <= 0 || sent < leastWindow {
		return was
	}
	ratio := min(max(float64(reported)/float64(sent), leastFactor), mostFactor)
	if was <= 0 {
		return ratio
	}
	return min(max(was+learnWeight*(ratio-was), leastFactor), mostFactor)
}

package scrollback_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// Sums of money are the decimals that they stand for, in whatever order they are added.
func TestCostsAddUpAsDecimals(t *testing.T) {
	for want, costs := range map[string][]float64{
		"0.3":       {0.1, 0.2},
		"0.6":       {0.1, 0.2, 0.3},
		"0.008698":  {0.0043, 0.002199, 0.002199},
		"1e-7":      {1e-7},
		"1234.5678": {1234.5, 0.0678},
	} {
		var there, back scrollback.Usage
		for i := range costs {
			there = there.Add(scrollback.Usage{Cost: costs[i]})
			back = back.Add(scrollback.Usage{Cost: costs[len(costs)-1-i]})
		}
		for _, sum := range []scrollback.Usage{there, back} {
			if b, err := json.Marshal(sum); err != nil || !strings.Contains(string(b), `"cost":`+want+`,`) {
				t.Errorf("%v add up to %s, %v; want %s", costs, b, err, want)
			}
		}
	}
}

// Package nearest finds the name that a misspelt one is meant to be.
//
// It knows nothing else of this program.
package nearest

import "strings"

// maxName is the longest name, in bytes, that is near any other.
const maxName = 64

// FindNearest returns the known name that differs least from a misspelt one, case, hyphens and
// underscores aside; empty if none is near.
func FindNearest(name string, known []string) string {
	if len(name) > maxName {
		return ""
	}
	plain := func(s string) string { return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s)) }
	best := ""
	least := 1 + max(1, len(name)/3)
	for _, k := range known {
		if n := editDistance(plain(name), plain(k)); n < min(least, len(name)) {
			best = k
			least = n
		}
	}
	return best
}

// editDistance counts the bytes to insert, drop, change or swap with their neighbour that make a
// into b.
func editDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			if i == 0 || j == 0 {
				rows[i][j] = i + j
				continue
			}
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

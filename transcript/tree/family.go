package tree

import "slices"

// GroupFamilies puts ids under their parents: each family begins with one that has no parent among
// the ids, and has parents before their children; children come in the order of ids. Of
// those that are each other's ancestors in a circle the first is taken as one without. Ids are
// different from each other; the time is linear.
func GroupFamilies(ids []string, parent func(id string) string) (out [][]string) {
	there := map[string]bool{}
	below := map[string][]string{}
	for _, id := range ids {
		there[id] = true
	}
	var roots []string
	for _, id := range ids {
		if up := parent(id); there[up] && up != id {
			below[up] = append(below[up], id)
		} else {
			roots = append(roots, id)
		}
	}
	seen := map[string]bool{}
	for _, root := range slices.Concat(roots, ids) {
		var family []string
		for stack := []string{root}; len(stack) > 0; {
			id := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[id] {
				continue
			}
			seen[id] = true
			family = append(family, id)
			for _, child := range slices.Backward(below[id]) {
				stack = append(stack, child)
			}
		}
		if len(family) > 0 {
			out = append(out, family)
		}
	}
	return out
}

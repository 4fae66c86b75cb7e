package compact

import (
	"slices"
	"testing"
)

// Every policy that is listed can be had by its name, and has every number that is listed, within its bounds.
func TestNamesAndNumbers(t *testing.T) {
	names := Names()
	if names[0] != Auto || !slices.Contains(names, Snapshot) || !slices.Contains(names, Rolling) ||
		!slices.Contains(names, Segments) {
		t.Errorf("the policies are %v", names)
	}
	for _, name := range names {
		p, err := FindPolicy(name, true)
		if err != nil {
			t.Fatal(err)
		}
		own := p.Numbers()
		if len(own) != len(Numbers()) {
			t.Errorf("%s has %d numbers of %d", name, len(own), len(Numbers()))
		}
		for _, n := range Numbers() {
			v, ok := own[n.Name]
			if !ok || v < n.Least || v > n.Most || n.Whole && v != float64(int64(v)) {
				t.Errorf("%s of %s is %v (%v to %v)", n.Name, name, v, n.Least, n.Most)
			}
			if _, err := FindPolicy(name, true, map[string]float64{n.Name: n.Most + 1}); err == nil {
				t.Errorf("%s takes a %s of %v", name, n.Name, n.Most+1)
			}
		}
	}
}

package drivertest

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store/driver"
)

const claimsNow = 1_700_000_000_000

// RunClaims runs the suite. Each call of open returns an empty driver.
func RunClaims(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*claimsHarness){
		"Claims": testClaims, "ClaimsEnd": testClaimsEnd, "ConcurrentClaims": testConcurrentClaims,
		"ManyClaims": testManyClaims,
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			test(&claimsHarness{d.Turns, checks{t}})
		})
	}
}

// claimsHarness is a driver under test.
type claimsHarness struct {
	driver.Turns
	checks
}

// newClaim returns a claim of an owner on what is named conversation/work.
func newClaim(what, owner string, at, until int64) driver.Claim {
	of, work, _ := strings.Cut(what, "/")
	return driver.Claim{Conversation: scrollback.ConversationID(of), Work: work, Owner: owner, Now: at, Until: until}
}

// wantClaim claims, and wants it to be got or not.
func (b *claimsHarness) wantClaim(want bool, c driver.Claim) {
	b.t.Helper()
	got, err := b.ClaimWork(b.t.Context(), c)
	if err != nil || got != want {
		b.t.Fatalf("claim %+v: %v, %v; want %v", c, got, err, want)
	}
}

func (b *claimsHarness) releaseClaim(c driver.Claim) {
	b.t.Helper()
	b.wantOK(b.ReleaseWork(b.t.Context(), c))
}

// One owner has a piece of work of a conversation; others have other work, and that of other
// conversations and of the database.
func testClaims(b *claimsHarness) {
	mine := newClaim("c/fold", "a", claimsNow, claimsNow+1000)
	b.wantClaim(true, mine)
	b.wantClaim(false, newClaim("c/fold", "b", claimsNow+1, claimsNow+1001))
	b.wantClaim(true, newClaim("c/title", "b", claimsNow+1, claimsNow+1001))
	b.wantClaim(true, newClaim("d/fold", "b", claimsNow+1, claimsNow+1001))
	b.wantClaim(true, newClaim("/fold", "b", claimsNow+1, claimsNow+1001))
	b.wantClaim(true, newClaim("c/fold", "a", claimsNow+2, claimsNow+3000)) // its own, for longer
	b.wantClaim(false, newClaim("c/fold", "b", claimsNow+2999, claimsNow+4000))

	b.releaseClaim(newClaim("c/fold", "b", 0, 0)) // not b's to give back
	b.releaseClaim(newClaim("x/fold", "b", 0, 0))
	b.wantClaim(false, newClaim("c/fold", "b", claimsNow+3, claimsNow+1001))
	b.releaseClaim(mine)
	b.wantClaim(true, newClaim("c/fold", "b", claimsNow+3, claimsNow+1001))
	b.wantClaim(false, mine)
	b.releaseClaim(mine)
	b.wantClaim(false, mine)
}

// A claim expires by itself; its owner has lost it if somebody else took it. One of a
// clock that was set back holds nothing.
func testClaimsEnd(b *claimsHarness) {
	b.wantClaim(true, newClaim("c/fold", "a", claimsNow, claimsNow+1000))
	b.wantClaim(false, newClaim("c/fold", "b", claimsNow+999, claimsNow+2000))
	b.wantClaim(true, newClaim("c/fold", "a", claimsNow+1500, claimsNow+2000)) // late, and nobody came
	b.wantClaim(true, newClaim("c/fold", "b", claimsNow+2000, claimsNow+3000))
	b.wantClaim(false, newClaim("c/fold", "a", claimsNow+2001, claimsNow+4000))
	b.releaseClaim(newClaim("c/fold", "a", 0, 0))
	b.wantClaim(false, newClaim("c/fold", "a", claimsNow+2002, claimsNow+4000))

	b.wantClaim(true, newClaim("d/fold", "a", claimsNow, claimsNow+driver.LeaseMax))
	b.wantClaim(false, newClaim("d/fold", "b", claimsNow, claimsNow+1000))
	b.wantClaim(true, newClaim("d/fold", "b", claimsNow-1, claimsNow+1000))
}

// Of many that want the same work at once, one gets it.
func testConcurrentClaims(b *claimsHarness) {
	for round := range 5 {
		var got atomic.Int64
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				ok, err := b.ClaimWork(b.t.Context(), newClaim(fmt.Sprint("c/", round), fmt.Sprint(i), claimsNow, claimsNow+1000))
				if err != nil {
					b.t.Error(err)
				}
				if ok {
					got.Add(1)
				}
			})
		}
		if all.Wait(); got.Load() != 1 {
			b.t.Fatalf("%d have the claim", got.Load())
		}
	}
}

// What is claimed stays claimed, however much else was claimed and has ended.
func testManyClaims(b *claimsHarness) {
	b.wantClaim(true, newClaim("c/fold", "a", claimsNow+900_000, claimsNow+960_000))
	for i := range 40 {
		b.wantClaim(true, newClaim(fmt.Sprint(i, "/fold"), "a", claimsNow, claimsNow+1000))
	}
	for i := range 20 {
		b.wantClaim(true, newClaim(fmt.Sprint(i, "/title"), "a", claimsNow+910_000, claimsNow+911_000))
	}
	b.wantClaim(false, newClaim("c/fold", "b", claimsNow+910_000, claimsNow+911_000))
}

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

const now = 1_700_000_000_000

// RunClaims runs the suite. Each call of open returns an empty driver.
func RunClaims(t *testing.T, open func(t *testing.T) *driver.Driver) {
	for name, test := range map[string]func(*claimsBench){
		"Claims": testClaims, "ClaimsEnd": testClaimsEnd, "ConcurrentClaims": testConcurrentClaims,
		"ManyClaims": testManyClaims,
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			defer d.Close()
			test(&claimsBench{d.Turns, t})
		})
	}
}

// claimsBench is a driver under test.
type claimsBench struct {
	driver.Turns
	t *testing.T
}

// claim is one of an owner on what is named conversation/work.
func claim(what, owner string, at, until int64) driver.Claim {
	of, work, _ := strings.Cut(what, "/")
	return driver.Claim{Conversation: scrollback.ConversationID(of), Work: work, Owner: owner, Now: at, Until: until}
}

// want claims, and wants it to be got or not.
func (b *claimsBench) want(want bool, c driver.Claim) {
	b.t.Helper()
	got, err := b.ClaimWork(b.t.Context(), c)
	if err != nil || got != want {
		b.t.Fatalf("claim %+v: %v, %v; want %v", c, got, err, want)
	}
}

func (b *claimsBench) release(c driver.Claim) {
	b.t.Helper()
	if err := b.ReleaseWork(b.t.Context(), c); err != nil {
		b.t.Fatal(err)
	}
}

// One owner has a piece of work of a conversation; others have other work, and that of other
// conversations and of the database.
func testClaims(b *claimsBench) {
	mine := claim("c/fold", "a", now, now+1000)
	b.want(true, mine)
	b.want(false, claim("c/fold", "b", now+1, now+1001))
	b.want(true, claim("c/title", "b", now+1, now+1001))
	b.want(true, claim("d/fold", "b", now+1, now+1001))
	b.want(true, claim("/fold", "b", now+1, now+1001))
	b.want(true, claim("c/fold", "a", now+2, now+3000)) // its own, for longer
	b.want(false, claim("c/fold", "b", now+2999, now+4000))

	b.release(claim("c/fold", "b", 0, 0)) // not b's to give back
	b.release(claim("x/fold", "b", 0, 0))
	b.want(false, claim("c/fold", "b", now+3, now+1001))
	b.release(mine)
	b.want(true, claim("c/fold", "b", now+3, now+1001))
	b.want(false, mine)
	b.release(mine)
	b.want(false, mine)
}

// A claim ends by itself; whoever had it has lost it then, if somebody else took it. One of a
// clock that was set back holds nothing.
func testClaimsEnd(b *claimsBench) {
	b.want(true, claim("c/fold", "a", now, now+1000))
	b.want(false, claim("c/fold", "b", now+999, now+2000))
	b.want(true, claim("c/fold", "a", now+1500, now+2000)) // late, and nobody came
	b.want(true, claim("c/fold", "b", now+2000, now+3000))
	b.want(false, claim("c/fold", "a", now+2001, now+4000))
	b.release(claim("c/fold", "a", 0, 0))
	b.want(false, claim("c/fold", "a", now+2002, now+4000))

	b.want(true, claim("d/fold", "a", now, now+driver.LeaseMax))
	b.want(false, claim("d/fold", "b", now, now+1000))
	b.want(true, claim("d/fold", "b", now-1, now+1000))
}

// Of many that want the same work at once, one gets it.
func testConcurrentClaims(b *claimsBench) {
	for round := range 5 {
		var got atomic.Int64
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				ok, err := b.ClaimWork(b.t.Context(), claim(fmt.Sprint("c/", round), fmt.Sprint(i), now, now+1000))
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
func testManyClaims(b *claimsBench) {
	b.want(true, claim("c/fold", "a", now+900_000, now+960_000))
	for i := range 40 {
		b.want(true, claim(fmt.Sprint(i, "/fold"), "a", now, now+1000))
	}
	for i := range 20 {
		b.want(true, claim(fmt.Sprint(i, "/title"), "a", now+910_000, now+911_000))
	}
	b.want(false, claim("c/fold", "b", now+910_000, now+911_000))
}

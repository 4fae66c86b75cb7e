package main

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
)

// world is a simulation of events in their order, in milliseconds. The same seed gives the
// same world.
type world struct {
	now    float64
	events events
	rng    *rand.Rand
	n      int
}

func newWorld(seed uint64) *world { return &world{rng: rand.New(rand.NewPCG(seed, 18))} }

// runAfter does something later; what is due at one time comes in the order of its asking.
func (w *world) runAfter(ms float64, do func()) {
	w.n++
	heap.Push(&w.events, event{w.now + ms, w.n, do})
}

func (w *world) runAll() {
	for len(w.events) > 0 {
		e := heap.Pop(&w.events).(event)
		w.now = e.at
		e.do()
	}
}

// randomTime returns a time that varies as calls and computations do, with this mean.
func (w *world) randomTime(ms float64) float64 { return w.rng.ExpFloat64() * ms }

type event struct {
	at float64
	n  int
	do func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].n < e[j].n
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// serviceQueue serves a number at once; the others wait in the order of their arrival.
type serviceQueue struct {
	free    int
	waiting []func()
}

func (d *serviceQueue) takePlace(do func()) {
	if d.free > 0 {
		d.free--
		do()
		return
	}
	d.waiting = append(d.waiting, do)
}

func (d *serviceQueue) leavePlace() {
	if len(d.waiting) == 0 {
		d.free++
		return
	}
	do := d.waiting[0]
	d.waiting = d.waiting[1:]
	do()
}

// disk flushes the WAL: a flush includes those that wait when it begins, up to a number.
type disk struct {
	*world
	in      inputs
	busy    bool
	waiting []func()
}

func (d *disk) commitWAL(done func()) {
	d.waiting = append(d.waiting, done)
	if !d.busy {
		d.flushWAL()
	}
}

func (d *disk) flushWAL() {
	n := min(len(d.waiting), int(d.in.numberOf("flush_group")))
	if d.busy = n > 0; !d.busy {
		return
	}
	group := d.waiting[:n]
	d.waiting = d.waiting[n:]
	took := d.in.numberOf("flush_ms")
	if d.rng.IntN(100) == 0 {
		took = d.in.numberOf("flush_p99_ms")
	}
	d.runAfter(took, func() {
		for _, done := range group {
			done()
		}
		d.flushWAL()
	})
}

// store is the database as the transactions of turns pass it.
type store struct {
	*world
	in    inputs
	pools []serviceQueue
	cores serviceQueue
	lanes []serviceQueue
	disk  disk
}

func newStore(w *world, in inputs, nodes int) *store {
	s := &store{world: w, in: in, pools: make([]serviceQueue, nodes),
		cores: serviceQueue{free: int(in.numberOf("primary_cores"))},
		lanes: make([]serviceQueue, int(in.numberOf("usage_lanes"))), disk: disk{world: w, in: in}}
	share := math.Min(in.numberOf("node_pool"), math.Max(1, in.numberOf("connections")/float64(nodes)))
	for i := range s.pools {
		s.pools[i].free = int(share)
	}
	for i := range s.lanes {
		s.lanes[i].free = 1
	}
	return s
}

// transaction is one, on a connection of a node: statements, work on a processor, a lane if
// it enters usage, and a commit.
type transaction struct {
	node       int
	statements float64
	cpu        float64
	lane       bool
}

func (s *store) runTransaction(t transaction, done func()) {
	pool := &s.pools[t.node]
	end := func() { pool.leavePlace(); done() }
	pool.takePlace(func() {
		s.runAfter(t.statements*s.in.numberOf("round_trip_ms"), func() {
			s.cores.takePlace(func() {
				s.runAfter(s.randomTime(t.cpu), func() {
					s.cores.leavePlace()
					s.finishTransaction(t, end)
				})
			})
		})
	})
}

func (s *store) finishTransaction(t transaction, end func()) {
	if !t.lane {
		s.disk.commitWAL(end)
		return
	}
	lane := &s.lanes[s.rng.IntN(len(s.lanes))]
	lane.takePlace(func() {
		s.runAfter(s.in.numberOf("lane_statements")*s.in.numberOf("round_trip_ms"), func() {
			s.disk.commitWAL(func() { lane.leavePlace(); end() })
		})
	})
}

// simulated is what came of a simulation.
type simulated struct {
	turns    float64 // a second, from the first to the end of the last
	p50, p99 float64 // milliseconds for the two transactions of a turn, without its model
}

// simulateTurns lets n turns come by chance at a rate, to nodes by chance, with the saves of
// their drafts, and measures them after a tenth of them.
func simulateTurns(in inputs, nodes int, rate float64, n int) simulated {
	w := newWorld(uint64(nodes))
	s := newStore(w, in, nodes)
	var took []float64
	half := transaction{statements: in.numberOf("turn_statements") / 2, cpu: in.numberOf("turn_db_cpu_ms") / 2}
	save := transaction{statements: in.numberOf("save_statements"), cpu: in.numberOf("save_db_cpu_ms")}
	came := 0
	ended := 0.0
	var next func()
	next = func() {
		if came++; came > n {
			return
		}
		at := w.now
		counts := came > n/10
		begin := half
		begin.node = w.rng.IntN(nodes)
		finish := begin
		finish.lane = true
		s.runTransaction(begin, func() {
			s.runTransaction(finish, func() {
				if ended = w.now; counts {
					took = append(took, w.now-at)
				}
			})
		})
		w.runAfter(w.randomTime(1000/rate), next)
	}
	w.runAfter(0, next)
	storeDrafts(s, save, drafting{rate * in.draftSaves(), func() bool { return came > n }})
	w.runAll()
	slices.Sort(took)
	at := func(p float64) float64 { return took[min(len(took)-1, int(p*float64(len(took))))] }
	return simulated{float64(n) * 1000 / ended, at(0.5), at(0.99)}
}

// drafting is how many drafts are stored a second, until it is over.
type drafting struct {
	rate float64
	over func() bool
}

func storeDrafts(s *store, save transaction, d drafting) {
	var next func()
	next = func() {
		if d.over() || d.rate == 0 {
			return
		}
		t := save
		t.node = s.rng.IntN(len(s.pools))
		s.runTransaction(t, func() {})
		s.runAfter(s.randomTime(1000/d.rate), next)
	}
	next()
}

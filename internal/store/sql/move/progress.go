package move

import (
	"sync"
	"sync/atomic"
	"time"
)

// tellEvery is how often somebody is told how far the copy is.
const tellEvery = 500 * time.Millisecond

// tally counts how far a copy is, and tells somebody.
type tally struct {
	told  func(Progress) // nil tells nobody
	began time.Time

	one      sync.Mutex // tells
	stage    atomic.Value
	entered  atomic.Int64 // when the stage began, in Unix ns
	done, of atomic.Int64
	messages atomic.Int64
	rows     atomic.Int64
	bytes    atomic.Int64
}

// enter begins a stage, with nothing done in it.
func (t *tally) enter(s Stage) {
	t.done.Store(0)
	t.stage.Store(s)
	t.entered.Store(time.Now().UnixNano())
	t.tell()
}

func (t *tally) progress() Progress {
	stage, _ := t.stage.Load().(Stage)
	return Progress{Stage: stage, Conversations: t.done.Load(), Of: t.of.Load(), Messages: t.messages.Load(),
		Rows:  t.rows.Load(),
		Bytes: t.bytes.Load(), Seconds: time.Since(t.began).Seconds(),
		StageSeconds: time.Since(time.Unix(0, t.entered.Load())).Seconds()}
}

func (t *tally) tell() {
	if t.told == nil {
		return
	}
	t.one.Lock()
	defer t.one.Unlock()
	t.told(t.progress())
}

// telling tells until it is stopped.
func (t *tally) telling() (stop func()) {
	if t.told == nil {
		return func() {}
	}
	end := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(tellEvery)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				t.tell()
			}
		}
	}()
	return func() { close(end); <-ended }
}

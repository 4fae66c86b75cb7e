package move

import (
	"sync"
	"sync/atomic"
	"time"
)

// reportEvery is how often progress is reported.
const reportEvery = 500 * time.Millisecond

// progressReporter counts how far a copy is, and reports it.
type progressReporter struct {
	report func(Progress) // nil for none
	began  time.Time

	one      sync.Mutex // held while reporting
	stage    atomic.Value
	entered  atomic.Int64 // when the stage began, in Unix ns
	done, of atomic.Int64
	messages atomic.Int64
	rows     atomic.Int64
	bytes    atomic.Int64
}

// enterStage begins a stage, with nothing done in it.
func (t *progressReporter) enterStage(s Stage) {
	t.done.Store(0)
	t.stage.Store(s)
	t.entered.Store(time.Now().UnixNano())
	t.reportOnce()
}

func (t *progressReporter) currentProgress() Progress {
	stage, _ := t.stage.Load().(Stage)
	return Progress{Stage: stage, Conversations: t.done.Load(), Of: t.of.Load(), Messages: t.messages.Load(),
		Rows:  t.rows.Load(),
		Bytes: t.bytes.Load(), Seconds: time.Since(t.began).Seconds(),
		StageSeconds: time.Since(time.Unix(0, t.entered.Load())).Seconds()}
}

func (t *progressReporter) reportOnce() {
	if t.report == nil {
		return
	}
	t.one.Lock()
	defer t.one.Unlock()
	t.report(t.currentProgress())
}

// startReporting reports regularly until it is stopped.
func (t *progressReporter) startReporting() (stop func()) {
	if t.report == nil {
		return func() {}
	}
	end := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				t.reportOnce()
			}
		}
	}()
	return func() { close(end); <-ended }
}

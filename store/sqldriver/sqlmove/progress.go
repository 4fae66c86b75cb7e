package sqlmove

import "time"

// tellEvery is how often somebody is told how far the copy is.
const tellEvery = 500 * time.Millisecond

// enter begins a stage, with nothing done in it.
func (m *mover) enter(s Stage) {
	m.done.Store(0)
	m.stage.Store(s)
	m.entered.Store(time.Now().UnixNano())
	m.tell()
}

func (m *mover) progress() Progress {
	stage, _ := m.stage.Load().(Stage)
	return Progress{Stage: stage, Conversations: m.done.Load(), Of: m.of.Load(), Messages: m.messages.Load(), Rows: m.rows.Load(),
		Bytes: m.bytes.Load(), Seconds: time.Since(m.began).Seconds(),
		StageSeconds: time.Since(time.Unix(0, m.entered.Load())).Seconds()}
}

func (m *mover) tell() {
	if m.Told == nil {
		return
	}
	m.one.Lock()
	defer m.one.Unlock()
	m.Told(m.progress())
}

// telling tells until it is stopped. Told is called by one at a time.
func (m *mover) telling() (stop func()) {
	if m.Told == nil {
		return func() {}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(tellEvery)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				m.tell()
			}
		}
	}()
	return func() { close(end); <-ended }
}

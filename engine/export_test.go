package engine

// Rest waits until no turn runs, and no fold behind one. Nothing may begin meanwhile.
func (e *Engine) Rest() { e.running.Wait() }

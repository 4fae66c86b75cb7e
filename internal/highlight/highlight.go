// Package highlight splits code into tokens by its language, within bounds that hold for any code.
//
// The lexers are chroma's, from an archive that is read when code is first split: to read them all when a program
// starts, as chroma's package of lexers does, takes longer than many a command. One of them may match nothing for
// ever inside a single call, and its expressions may backtrack for seconds; chroma has neither a context nor a bound
// on steps. So this package rebuilds every lexer from its rules, with a check beside each rule that ends the lexer
// when its time is over or when it does not get on, runs it in a goroutine of its own, and does not wait longer than
// it said. What a lexer did not reach comes back as one token without a type.
//
// It knows neither Markdown nor colors.
package highlight

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alecthomas/chroma/v2"
)

// Bounds on one piece of code.
const (
	// MaxBytes is the longest code that is split.
	MaxBytes = 100_000
	// maxIdle is how many rules may match before a token with text comes out of it: a lexer that
	// moves between its states without reading is stopped. The deepest of chroma's lexers needs a
	// few dozen.
	maxIdle = 2_000
	// grace is what a lexer gets to notice that its time is over, before nobody waits for it.
	grace = 50 * time.Millisecond
)

// Token is a piece of code. Type is zero where the code was not looked at.
type Token struct {
	Type chroma.TokenType
	Text string
}

// IsKnown reports whether code in a language can be split.
func IsKnown(language string) bool { return language != "" && shared().names.Get(language) != nil }

// SplitCode splits code by its language, and takes no longer than within says. The tokens always join to
// the code; if the language is unknown or the code is too long, it is one token. complete is false if
// the time was over first.
func SplitCode(code, language string, within time.Duration) (tokens []Token, complete bool) {
	whole := []Token{{Text: code}}
	if code == "" || len(code) > MaxBytes || !IsKnown(language) {
		return whole, true
	}
	if within <= 0 {
		return whole, false
	}
	return shared().splitCode(code, language, within)
}

var shared = sync.OnceValue(func() *lexerPool {
	return newPool(storedLexers(), min(2, runtime.GOMAXPROCS(0)))
})

// lexerPool holds lexers for as many pieces of code as may be split at a time. Each bench is used by one
// job, because the checks of its lexers have to know for whom they run.
type lexerPool struct {
	names *chroma.LexerRegistry // for looking up languages
	free  chan struct{}         // a place for each bench
	lock  sync.Mutex
	idle  []*lexerSet // the one that was used last is taken first, so that few are ever filled
}

func newPool(from []*chroma.RegexLexer, size int) *lexerPool {
	p := &lexerPool{free: make(chan struct{}, size)}
	for range size {
		b := newBench(from)
		p.names = b.lexers
		p.giveBack(b)
	}
	return p
}

func (p *lexerPool) takeSet(within time.Duration) *lexerSet {
	select {
	case <-p.free:
	default:
		timer := time.NewTimer(within)
		defer timer.Stop()
		select {
		case <-p.free:
		case <-timer.C:
			return nil
		}
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	last := len(p.idle) - 1
	b := p.idle[last]
	p.idle = p.idle[:last]
	return b
}

func (p *lexerPool) giveBack(b *lexerSet) {
	p.lock.Lock()
	p.idle = append(p.idle, b)
	p.lock.Unlock()
	p.free <- struct{}{}
}

// splitCode runs one job, and leaves it behind when it does not end in time. A job that was left behind
// ends at its next check, and its bench is free again then.
func (p *lexerPool) splitCode(code, language string, within time.Duration) ([]Token, bool) {
	whole := []Token{{Text: code}}
	began := time.Now()
	b := p.takeSet(within)
	if b == nil {
		return whole, false
	}
	within -= time.Since(began)
	j := &splitJob{}
	ready := make(chan struct{})
	done := make(chan []Token, 1)
	go func() {
		defer p.giveBack(b)
		lexer := b.preparedLexer(language) // its time depends on the language alone, and is spent once
		j.deadline = time.Now().Add(within)
		close(ready)
		done <- b.runJob(j, lexer, code)
	}()
	<-ready
	timer := time.NewTimer(within + grace)
	defer timer.Stop()
	select {
	case tokens := <-done:
		return tokens, !j.late.Load()
	case <-timer.C:
		j.late.Store(true)
		return whole, false
	}
}

// splitJob is one piece of code being split.
type splitJob struct {
	deadline time.Time
	late     atomic.Bool // its time is over
	idle     int         // rules that matched since the last token with text
}

// isOver reports whether the job has to end, and counts a rule that matched.
func (j *splitJob) isOver() bool {
	j.idle++
	if j.idle > maxIdle || time.Now().After(j.deadline) {
		j.late.Store(true)
	}
	return j.late.Load()
}

// runJob splits the code of a job. It ends with the first token that is not the code any more: some
// lexers change what they read, such as line ends.
func (b *lexerSet) runJob(j *splitJob, lexer chroma.Lexer, code string) (out []Token) {
	b.job = j
	left := code
	defer func() {
		_ = recover() // a lexer that fails leaves the rest of the code as it is
		b.job = nil
		if left != "" {
			out = append(out, Token{Text: left})
		}
	}()
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, code)
	if err != nil {
		return nil
	}
	at := 0 // where the newest token of out begins
	for !j.late.Load() {
		t := next()
		if t == chroma.EOF {
			break
		}
		if t.Value == "" {
			continue // the rule that made it was counted
		}
		rest, ok := strings.CutPrefix(left, t.Value)
		if !ok {
			break
		}
		end := len(code) - len(rest)
		if n := len(out); n > 0 && out[n-1].Type == t.Type {
			out[n-1].Text = code[at:end]
		} else {
			at = end - len(t.Value)
			out = append(out, Token{t.Type, t.Value})
		}
		left = rest
		j.idle = 0
		if time.Now().After(j.deadline) {
			j.late.Store(true)
		}
	}
	return out
}

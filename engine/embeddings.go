package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/store"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/token"
)

// How long vectors are waited for, and when they are made.
const (
	questionTime  = 2 * time.Second  // for the vector of a question; then words alone find
	questionPause = 30 * time.Second // in which no question is sent after one that failed
	questionsKept = 64               // vectors of questions, for the pages behind the first

	vectorsEvery   = 2 * time.Second // until what was said meanwhile is looked for
	vectorsAway    = 5 * time.Second // the same while another server makes them
	vectorsRetry   = time.Second     // after a failure, and twice as long after each further one
	vectorsPatient = time.Minute     // at most; also until a used-up budget is looked at again
	vectorsProbe   = 10 * time.Second
	usageTime      = 5 * time.Second // for entering what was spent

	shortRunes = 500 // to which a text is cut that a server does not take
)

// probeText is sent to find out whether a server takes anything.
const probeText = "scrollback"

// vectorsWork is the filling as it is claimed.
const vectorsWork = "vectors"

// embeddingPurpose is what calls for vectors are in the books as.
const embeddingPurpose = "embedding"

// questionVectors are those of the last questions. It is safe for concurrent use.
type questionVectors struct {
	mu     sync.Mutex
	recent []questionVector // the newest last
	until  time.Time        // no question is sent before
}

type questionVector struct {
	text   string
	vector []float32
}

// find returns the vector of a question that was asked before, if it has the dimension, or whether it may be sent.
func (q *questionVectors) find(text string, dimension int, now time.Time) (vector []float32, ask bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, one := range q.recent {
		if one.text == text && len(one.vector) == dimension {
			return one.vector, false
		}
	}
	return nil, !now.Before(q.until)
}

func (q *questionVectors) keep(text string, vector []float32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.recent = append(q.recent, questionVector{text, vector})
	q.recent = q.recent[max(0, len(q.recent)-questionsKept):]
}

func (q *questionVectors) pause(until time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.until = until
}

// CheckEmbedder returns an error if the model of embeddings cannot be asked as things are; nil where none is set up.
// With ask it is asked for the vector of a word.
func (e *Engine) CheckEmbedder(ctx context.Context, ask bool) error {
	if e.o.Embeddings == "" {
		return nil
	}
	m, err := e.resolver.FindEmbedder(e.o.Embeddings)
	if err != nil || !ask {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, vectorsProbe)
	defer cancel()
	_, err = m.EmbedTexts(ctx, []string{probeText})
	return err
}

// Question implements [recall.Access]. A question whose vector cannot be had is searched for by its words.
func (r readAccess) Question(q scrollback.SearchQuery) store.Question {
	e := r.e
	if e.o.Embeddings == "" {
		return nil
	}
	return func(ctx context.Context, text string) (*store.VectorLookup, error) {
		s, err := e.store.Vectors.ReadState(ctx)
		if err != nil || s.Model != e.o.Embeddings || s.Vectors == 0 {
			return nil, err
		}
		vector, ask := e.questions.find(text, s.Dimension, time.Now())
		if ask {
			vector, err = r.embedQuestion(ctx, q, text)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && scrollback.CodeOf(err) != scrollback.OverBudget:
			e.questions.pause(time.Now().Add(questionPause))
			e.o.Log.Log(ctx, e.o.failure(), "a question has no vector, and words alone are searched", "error", err)
			return nil, nil
		case err != nil || vector == nil:
			return nil, nil
		}
		return e.store.Vectors.NewLookup(ctx, e.o.Embeddings, vector)
	}
}

// embedQuestion asks for the vector of a question, and books it for who asks.
func (r readAccess) embedQuestion(ctx context.Context, q scrollback.SearchQuery, text string) ([]float32, error) {
	e := r.e
	project, err := r.payingProject(ctx, q)
	if err == nil {
		err = e.gate.checkBudget(ctx, r.caller.Key, project)
	}
	if err != nil {
		return nil, err
	}
	m, err := e.resolver.FindEmbedder(e.o.Embeddings)
	if err != nil {
		return nil, err
	}
	asking, cancel := context.WithTimeout(ctx, questionTime)
	defer cancel()
	made, err := m.EmbedTexts(asking, []string{text})
	if err != nil {
		return nil, err
	}
	call := embeddingCall{key: r.caller.Key, tokens: made.InputTokens,
		parts: []embeddedPart{{project: project, conversation: q.Conversation, tokens: int64(token.Count(text))}}}
	e.runBeside(func(ctx context.Context) { e.bookEmbeddings(ctx, call) })
	e.questions.keep(text, made.Vectors[0])
	return made.Vectors[0], nil
}

// payingProject returns the project in whose sums a search is: that of its conversation, or the one it looks in, or
// else the caller's first.
func (r readAccess) payingProject(ctx context.Context, q scrollback.SearchQuery) (string, error) {
	switch {
	case q.Conversation != "":
		h, err := r.openHead(ctx, q.Conversation, scrollback.AccessRead)
		return h.Project, err
	case q.Project == "" && len(q.Projects) == 1:
		return q.Projects[0], nil
	}
	return r.resolveProject(q.Project)
}

// embeddingCall is a call for vectors, as it is booked: tokens as the server counts them, 0 if it does not, and what
// they were for.
type embeddingCall struct {
	key    scrollback.KeyID
	tokens int64
	parts  []embeddedPart
}

// embeddedPart is what of a call was for one conversation, in our tokens.
type embeddedPart struct {
	project      string
	conversation scrollback.ConversationID
	tokens       int64
}

// bookEmbeddings enters a call in the books: a record for each conversation, with its share.
func (e *Engine) bookEmbeddings(ctx context.Context, c embeddingCall) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), usageTime)
	defer cancel()
	all := int64(0)
	for _, p := range c.parts {
		all += p.tokens
	}
	by := map[string][]scrollback.UsageRecord{}
	for _, p := range c.parts {
		u := scrollback.Usage{InputTokens: p.tokens, Estimated: true}
		if c.tokens > 0 {
			u = scrollback.Usage{InputTokens: c.tokens * p.tokens / max(all, 1)}
		}
		u.TotalTokens = u.InputTokens
		by[p.project] = append(by[p.project], scrollback.UsageRecord{Usage: e.resolver.AddPrice(e.o.Embeddings, u),
			Conversation: p.conversation, Key: c.key, Model: e.o.Embeddings, Purpose: embeddingPurpose, At: e.store.Now()})
	}
	for project, records := range by {
		if err := e.store.Books.EnterUsage(ctx, project, records); err != nil {
			e.o.Log.Log(ctx, e.o.failure(), "a call for vectors is not in the books", "project", project, "error", err)
		}
	}
}

// KeepVectors makes the vectors of what is said, behind the log, until ctx ends: one server at a time. Without a model
// of embeddings it returns at once.
func (e *Engine) KeepVectors(ctx context.Context) {
	if e.o.Embeddings == "" {
		return
	}
	wait := time.Duration(0)
	said := ""
	for {
		done, err := e.FillVectors(ctx)
		if err == nil && done {
			err = e.store.Vectors.Load(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && !done:
			wait = vectorsAway
		case err == nil:
			wait = 0
			said = ""
		default:
			wait = min(max(2*wait, vectorsRetry), vectorsPatient)
			if err.Error() != said {
				said = err.Error()
				e.o.Log.Warn("vectors of messages cannot be made now", "model", e.o.Embeddings, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(wait, vectorsEvery)):
		}
	}
}

// FillVectors makes the vectors of all messages that have none. It returns false if another server does.
func (e *Engine) FillVectors(ctx context.Context) (done bool, err error) {
	s, err := e.store.Vectors.ReadState(ctx)
	if err != nil || s.Model == e.o.Embeddings && s.Newest <= s.Watermark {
		return err == nil, err
	}
	m, err := e.resolver.FindEmbedder(e.o.Embeddings)
	if err != nil {
		return false, err
	}
	claim, err := e.store.Claims.ClaimWork(ctx, "", vectorsWork)
	if err != nil || claim == nil {
		return false, err
	}
	defer claim.Release()
	embed := func(ctx context.Context, texts []store.VectorText) ([][]float32, error) {
		return e.embedBatch(ctx, m, texts)
	}
	for !done && err == nil && ctx.Err() == nil {
		done, err = e.store.Vectors.FillStep(ctx, e.o.Embeddings, embed)
	}
	return done, err
}

// embedBatch asks for the vectors of a batch, unless one of its projects has used up its day.
func (e *Engine) embedBatch(ctx context.Context, m model.Embedder, texts []store.VectorText) ([][]float32, error) {
	projects := map[scrollback.ConversationID]string{}
	judged := map[string]bool{}
	for _, t := range texts {
		if _, known := projects[t.Conversation]; known {
			continue
		}
		h, err := e.As(scrollback.Operator()).door.openHead(ctx, t.Conversation, scrollback.AccessRead)
		switch scrollback.CodeOf(err) {
		case "":
		case scrollback.NotFound: // it was purged, and others inherit of it
			h.Project = scrollback.DefaultProject
		default:
			return nil, err
		}
		projects[t.Conversation] = h.Project
		if judged[h.Project] {
			continue
		}
		judged[h.Project] = true
		if err := e.gate.checkBudget(ctx, "", h.Project); err != nil {
			return nil, err
		}
	}
	send := func(some []store.VectorText) ([][]float32, error) {
		list := make([]string, len(some))
		call := embeddingCall{}
		at := map[scrollback.ConversationID]int{}
		for i, t := range some {
			list[i] = t.Text
			if _, known := at[t.Conversation]; !known {
				at[t.Conversation] = len(call.parts)
				call.parts = append(call.parts, embeddedPart{project: projects[t.Conversation], conversation: t.Conversation})
			}
			call.parts[at[t.Conversation]].tokens += int64(token.Count(t.Text))
		}
		made, err := m.EmbedTexts(ctx, list)
		if err == nil {
			call.tokens = made.InputTokens
			e.bookEmbeddings(ctx, call)
		}
		return made.Vectors, err
	}
	all, err := send(texts)
	if err == nil || !isOfText(err) {
		return all, err
	}
	return embedEach(texts, err, send)
}

// isOfText reports whether an error may be about what was sent, so that another text could be taken.
func isOfText(err error) bool {
	switch scrollback.CodeOf(err) {
	case scrollback.OverBudget:
		return true
	case scrollback.Invalid:
		return !errors.Is(err, scrollback.ErrNoModel)
	}
	return errors.Is(err, scrollback.ErrPermanent) && !errors.Is(err, scrollback.ErrNoModel)
}

// embedEach asks for the vector of each text of a batch that a server did not take, at last of its beginning alone. A
// text of which it takes neither has none; if it takes no other text either, it is the server's fault, and the batch
// waits.
func embedEach(texts []store.VectorText, why error,
	send func([]store.VectorText) ([][]float32, error)) ([][]float32, error) {
	if _, err := send([]store.VectorText{{Conversation: texts[0].Conversation, Text: probeText}}); err != nil {
		return nil, why
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		for {
			made, err := send([]store.VectorText{t})
			if err == nil {
				out[i] = made[0]
				break
			}
			if !isOfText(err) {
				return nil, err
			}
			short := []rune(t.Text)
			if len(short) <= shortRunes {
				break
			}
			t.Text = string(short[:shortRunes])
		}
	}
	return out, nil
}

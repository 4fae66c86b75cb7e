package remote

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
)

// sentBody is what a request sends. It lets go of its bytes when they were sent and answered: the connection keeps the
// request for as long as the answer is written, and a window of 100,000 tokens is half a megabyte.
//
// Its readers are those of the standard library, which sends what it knows to be in memory together with the head.
type sentBody struct {
	mu       sync.Mutex
	text     []byte
	readers  []*bytes.Reader // one each time that it is sent
	written  int             // how often it was sent, to the end or to a fault
	answered bool            // it will not be sent again
}

// newRequest returns a request that sends the bytes.
func (s *sentBody) newRequest(ctx context.Context, method, url string) (*http.Request, error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) {
		s.note(func() { s.written++ })
	}})
	req, err := http.NewRequestWithContext(ctx, method, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.ContentLength = int64(len(s.text))
	req.GetBody = func() (io.ReadCloser, error) {
		r := bytes.NewReader(nil)
		s.note(func() {
			r.Reset(s.text)
			s.readers = append(s.readers, r)
		})
		return io.NopCloser(r), nil
	}
	req.Body, err = req.GetBody()
	return req, err
}

// markAnswered says that the request will not be sent again. What is still being sent is sent to its end.
func (s *sentBody) markAnswered() { s.note(func() { s.answered = true }) }

// note changes what is known, and lets go of the bytes if nobody needs them any more.
func (s *sentBody) note(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	if !s.answered || s.written < len(s.readers) {
		return
	}
	s.text = nil
	for _, r := range s.readers {
		r.Reset(nil)
	}
}

package remote

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"testing"
)

// A request's bytes are let go of when they were sent and answered, and not before.
func TestSentBodyIsLetGo(t *testing.T) {
	text := bytes.Repeat([]byte("The gate opens at six. "), 40_000)
	begun := make(chan struct{})
	arrived := make(chan []byte, 1)
	end := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		_ = rc.EnableFullDuplex()
		_ = rc.Flush() // the answer begins before the request was read
		<-begun
		got, _ := io.ReadAll(r.Body)
		arrived <- got
		<-end
	}))
	defer srv.Close()
	defer close(end)
	wrote := make(chan struct{})
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{ // called behind the body's own
		WroteRequest: func(httptrace.WroteRequestInfo) { close(wrote) }})
	s := &sentBody{text: text}
	req, err := s.newRequest(ctx, http.MethodPost, srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	s.markAnswered()
	close(begun)
	if got := <-arrived; !bytes.Equal(got, text) {
		t.Errorf("of a request that is answered early, %d of %d bytes came", len(got), len(text))
	}
	if req.ContentLength != int64(len(text)) {
		t.Errorf("it says that it has %d bytes", req.ContentLength)
	}
	<-wrote
	if s.isKept() {
		t.Error("it is kept after it was sent and answered")
	}
}

// A request that is sent again, as on a connection that had died, is whole each time.
func TestSentBodyIsSentAgain(t *testing.T) {
	s := &sentBody{text: []byte("The gate opens at six.")}
	req, err := s.newRequest(t.Context(), http.MethodPost, "http://127.0.0.1/")
	if err != nil {
		t.Fatal(err)
	}
	wrote := httptrace.ContextClientTrace(req.Context()).WroteRequest
	_, _ = io.CopyN(io.Discard, req.Body, 5)
	wrote(httptrace.WroteRequestInfo{Err: io.ErrClosedPipe})
	again, err := req.GetBody()
	if err != nil || !s.isKept() {
		t.Fatalf("it cannot be sent again (%v)", err)
	}
	s.markAnswered()
	if got, err := io.ReadAll(again); err != nil || string(got) != "The gate opens at six." {
		t.Errorf("sent again it is %q (%v)", got, err)
	}
	if !s.isKept() {
		t.Error("it is gone while it is being sent")
	}
	wrote(httptrace.WroteRequestInfo{})
	if s.isKept() {
		t.Error("it is kept after it was sent and answered")
	}
}

// isKept reports whether anything holds the bytes.
func (s *sentBody) isKept() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text != nil || slices.ContainsFunc(s.readers, func(r *bytes.Reader) bool { return r.Size() > 0 })
}

package remote_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// body is a transport whose every answer has a body.
type body func() io.Reader

func (b body) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(b())}, nil
}

// events lists the events of a body, as "type|data".
func events(b body) (out []string, err error) {
	x := remote.Exchange{URL: "http://acme.test", Body: 1, Read: func(a *remote.Answer) error {
		for ev, err := range a.Events() {
			if err != nil {
				return err
			}
			out = append(out, ev.Type+"|"+ev.Data)
		}
		return a.EmitDelta(model.Delta{Finish: "stop"})
	}}
	_, err = modeltest.Read(client(remote.Options{Client: &http.Client{Transport: b},
		Retries: -1}).Stream(context.Background(),
		model.Request{}, func(scrollback.Learned) (remote.Exchange, error) { return x, nil }))
	return out, err
}

func TestEvents(t *testing.T) {
	for text, want := range map[string]string{
		"data: a\n\ndata: b\n\n":                         "|a, |b",
		"event: x\ndata: a\n\ndata: b\n\n":               "x|a, |b",
		"data: a\nevent: x\n\n":                          "x|a",
		"data:a\r\n\r\ndata:  b \r\n\r\n":                "|a, |b",
		"\xef\xbb\xbfdata: a\n\n":                        "|a",
		": hm\n: hm\n\ndata: a\n: hm\ndata: b\n\n":       "|a\nb",
		"id: 7\nretry: 10\ndata: a\nfoo: x\nbar\n\n":     "|a",
		"data\n\ndata:\n\ndata: \n\nevent: ping\n\n":     "",
		"\n\n\ndata: a\n\n\n\n":                          "|a",
		"data: a\r\rdata: b\rdata: c\r\n\rdata: d\r\r":   "|a, |b\nc, |d",
		"\xef\xbb\xbfevent: x\rdata: a\r\r: hm\rdata: b": "x|a, |b",
		"{\"error\": {\"message\": \"no: not now\"}}":    "|{\"error\": {\"message\": \"no: not now\"}}",
		": hm\n\n{\n \"error\":\n  \"no\"\n}\n":          "|{\n \"error\":\n  \"no\"\n}",
		"data: a\n\n{\"error\":\"no\"}":                  "|a, |{\"error\":\"no\"}",
		"{half\n\ndata: a\n\n":                           "|a",
		"data: a":                                        "|a",
		"data: a\n":                                      "|a",
		"event: x\ndata: {\"a\":\"b: c\"}\n\n: bye":      "x|{\"a\":\"b: c\"}",
		"event: x\n\ndata: a\n\n":                        "|a",
		"data: " + strings.Repeat("四", 70_000) + "\n\n":  "|" + strings.Repeat("四", 70_000),
	} {
		for _, cut := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader,
			iotest.HalfReader,
			iotest.DataErrReader} {
			got, err := events(func() io.Reader { return cut(strings.NewReader(text)) })
			if err != nil || strings.Join(got, ", ") != want {
				t.Errorf("%.60q is read as %.60q (%v)", text, got, err)
			}
		}
	}
	if got, err := events(func() io.Reader {
		return io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(io.ErrUnexpectedEOF))
	}); len(got) != 1 || err == nil {
		t.Errorf("a connection that broke gives %q (%v)", got, err)
	}
}

// pieces hands out little at a time.
type pieces struct{ io.Reader }

func (p pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(len(b), 1400)]) }

// A long event costs what is long about it, in however small pieces it comes.
func TestEventsAreLinear(t *testing.T) {
	const n = 8<<20 - 100
	began := time.Now()
	got, err := events(func() io.Reader { return pieces{strings.NewReader("data: " + strings.Repeat("x", n) + "\n\n")} })
	if err != nil || len(got) != 1 || len(got[0]) != n+1 {
		t.Fatalf("%d events (%v)", len(got), err)
	}
	if took := time.Since(began); took > 5*time.Second { // where each piece is searched from the beginning, it is a minute
		t.Errorf("it took %v", took)
	}
	long := func() io.Reader {
		return strings.NewReader(strings.Repeat(fmt.Sprintf("data: %01000d\n", 0), 9000) + "\n")
	}
	if got, err := events(long); err == nil || len(got) > 0 {
		t.Errorf("an event of many lines over the bound gives %d (%v)", len(got), err)
	}
}

package remote_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// Whatever a server does with the key, no error holds it: neither what is shown nor
// what is logged.
func TestNoSecretInErrors(t *testing.T) {
	keys := rapid.OneOf(rapid.StringMatching(`sk-[A-Za-z0-9]{48}`), rapid.StringMatching(`sk-proj-[A-Za-z0-9_-]{100}`),
		rapid.StringMatching(`sk-ant-api03-[A-Za-z0-9_-]{93}AA`),
		rapid.StringMatching(`AIza[A-Za-z0-9_-]{35}`), rapid.StringMatching(`xai-[A-Za-z0-9]{80}`),
		rapid.StringMatching(`sk-or-v1-[0-9a-f]{64}`),
		rapid.StringMatching(`gsk_[A-Za-z0-9]{52}`),
		rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`),
		rapid.StringMatching(`[A-Za-z0-9_-]{40}`),
		rapid.StringMatching(`[a-z0-9]{8,20}`))
	bodies := []func(k string) string{
		func(k string) string { return k },
		func(k string) string { return `{"error":{"message":"Incorrect API key provided: ` + k + `"}}` },
		func(k string) string {
			return `{"error":{"message":"no","code":"` + k + `","type":"` + k + `","param":"` + k + `"}}`
		},
		func(k string) string { return `{"error":"` + k[:len(k)/2+4] + `***` + k[len(k)-4:] + `"}` },
		func(k string) string {
			return `{"error":{"message":"x","metadata":{"raw":"{\"error\":\"` + k + `\"}"}}}`
		},
		func(k string) string { return `{"detail":[{"loc":["header","` + k + `"],"msg":"` + k + `"}]}` },
		func(k string) string { return `<html><body>` + k + `</body></html>` },
		func(k string) string { return `{"error":{"message":"maximum context length is 10 tokens ` + k + `"}}` },
		func(k string) string {
			return `{"error":{"message":"unsupported parameter temperature for ` + k + `"}}`
		},
		func(k string) string { return "data: problem {\"error\":\"" + k + "\"}\n\n" },
		func(k string) string { return "data: " + k + "\n\n" },
		func(k string) string { return "data: text a\n\ndata: " + k + "{\n\n" },
	}
	var status int
	var said string
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if status == http.StatusTemporaryRedirect {
			w.Header().Set("Location", "http://127.0.0.2/"+said)
		}
		w.WriteHeader(status)
		io.WriteString(w, said)
	})
	rapid.Check(t, func(rt *rapid.T) {
		k := keys.Draw(rt, "key")
		status = rapid.SampledFrom([]int{200, 307, 400, 401, 402, 403, 404, 413, 429, 500, 502}).Draw(rt, "status")
		said = rapid.SampledFrom(bodies).Draw(rt, "body")(k)
		c := remote.New(remote.Options{Provider: "acme", Key: k, KeyVariable: "ACME_KEY", Retries: -1,
			Pause:  time.Microsecond,
			Header: map[string]string{"Authorization": "Bearer " + k}})
		_, err := modeltest.Read(c.Stream(t.Context(), model.Request{}, func(scrollback.Learned) (remote.Exchange, error) {
			return remote.Exchange{URL: srv.URL + "/" + k + "?key=" + k, Body: 1, Read: read}, nil
		}))
		errs := []error{err, c.GetJSON(t.Context(), srv.URL+"/?key="+k, new(map[string]int))}
		for _, err := range errs {
			if err == nil {
				rt.Fatalf("%d %s is no error", status, said)
			}
			for _, text := range []string{err.Error(), scrollback.PublicMessage(err), fmt.Sprintf("%+v", err),
				fmt.Sprintf("%+v", *scrollback.FailureOf(err))} {
				low := strings.ToLower(text)
				k := strings.ToLower(k)
				for n := len(k); n >= 8; n-- {
					if strings.Contains(low, k[:n]) || strings.Contains(low, k[len(k)-n:]) {
						rt.Fatalf("%d: %q gives %d characters of the key away", status, text, n)
					}
				}
			}
		}
	})
}

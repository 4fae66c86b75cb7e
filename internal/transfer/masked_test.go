package transfer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
	"github.com/scrollback-ai/scrollback/internal/secrets"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/transcript/mask"
)

// secretKey looks like a token; it is put together so that no scanner finds one here.
const secretKey = "ghp" + "_0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX"

// secretive returns a conversation that has a token in every place that travels: said, in arguments and results of
// tools, folded and summed up, in attachments and behind artifacts, in a draft, and cut short in the title.
func secretive(t *testing.T) (*enginetest.Rig, scrollback.ConversationID) {
	t.Helper()
	ctx := context.Background()
	r := enginetest.New(t, enginetest.Options{Limit: 4000, NoFolds: true},
		modeltest.Say("the token "+secretKey+" is noted"))
	object := json.RawMessage(`{"a": "` + secretKey + `"}`)
	c, _, err := r.Create(ctx, scrollback.Conversation{Title: "my token is " + secretKey[:20], Limit: 4000,
		Instructions: "Use " + secretKey, Meta: object})
	if err != nil {
		t.Fatal(err)
	}
	art, err := r.Upload(ctx, c.ID, strings.NewReader("attached: "+secretKey+", and text about the tide"), secretKey+".txt")
	if err != nil {
		t.Fatal(err)
	}
	file := scrollback.File{Artifact: art.ID, MediaType: "text/plain", Name: secretKey + ".txt", Size: art.Size}
	r.Run(engine.TurnRequest{Conversation: c.ID, Message: scrollback.Parts{scrollback.Text{Text: "Never use " + secretKey +
		" for anything. See " + string(scrollback.ArtifactRef(art.ID))}, file}}).WantDone(t, scrollback.TurnComplete, "stop")
	if _, err := r.Kept().Keep(ctx, c.ID, 1, "Never use "+secretKey+" for anything.", ""); err != nil {
		t.Fatal(err)
	}
	r.ImportMany(c.ID, 60)
	if _, err := r.Compact(ctx, c.ID, engine.CompactRequest{Force: true}); err != nil {
		t.Fatal(err)
	}
	r.ImportMany(c.ID, 40)
	if _, err := r.Compact(ctx, c.ID, engine.CompactRequest{Clear: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Branches().Rewind(ctx, c.ID, engine.Point{Seq: new(int64(33))}); err != nil {
		t.Fatal(err)
	}
	big := `{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"sh",` +
		`"arguments":"{\"x\":\"` + secretKey + `\"}"}}]}` + "\n" +
		`{"role":"tool","tool_call_id":"t","content":"` + strings.Repeat("a line of output\\n", 4000) + secretKey + `"}` + "\n"
	if _, err := r.Import(ctx, strings.NewReader(`{"role":"user","content":"run it"}`+"\n"+big),
		transfer.ImportRequest{Into: c.ID}); err != nil {
		t.Fatal(err)
	}
	r.Ask(c.ID, "another way, without it").WantDone(t, scrollback.TurnComplete, "stop")
	return r, c.ID
}

// exportMasked exports without secrets, and wants none left, not even half of one.
func exportMasked(t *testing.T, r *enginetest.Rig, id scrollback.ConversationID, q transfer.ExportRequest) []byte {
	t.Helper()
	q.Mask = new(mask.Masker)
	var out bytes.Buffer
	if err := r.Transfer.Export(context.Background(), r.View, id, q, &out); err != nil {
		t.Fatalf("%s: %v", q.Format, err)
	}
	text := out.Bytes()
	if q.Format == "" || q.Format == transfer.BundleFormat {
		zip, err := zstd.NewReader(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		defer zip.Close()
		if text, err = io.ReadAll(zip); err != nil {
			t.Fatal(err)
		}
	}
	if at := bytes.Index(text, []byte(secretKey[:14])); at >= 0 {
		t.Errorf("%s still says %q", q.Format, text[max(0, at-200):min(len(text), at+100)])
	}
	if !bytes.Contains(text, []byte("[masked: ")) || q.Mask.Count() < 4 {
		t.Errorf("%s: %d masked", q.Format, q.Mask.Count())
	}
	return out.Bytes()
}

// Whatever the format, nothing of a secret is left in a masked file, and the conversation stays as it is.
func TestMaskedExports(t *testing.T) {
	t.Parallel()
	r, id := secretive(t)
	before := r.Pack(id, transfer.ExportRequest{})
	for _, format := range r.Transfer.Formats().Exports {
		exportMasked(t, r, id, transfer.ExportRequest{Format: format})
	}
	var m mask.Masker
	var full bytes.Buffer
	if err := r.Transfer.Copies().WriteMasked(t.Context(), r.View, id, &full, &m); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(full.String(), secretKey[:14]) || m.Count() < 4 {
		t.Errorf("the full copy, %d masked, says %s", m.Count(), full.String())
	}
	far := enginetest.New(t, enginetest.Options{NoFolds: true})
	out, err := far.Import(t.Context(), bytes.NewReader(full.Bytes()), transfer.ImportRequest{})
	if err != nil || len(out.Conversations) != 1 || out.Unsealed || len(out.Skipped) > 0 {
		t.Errorf("the full copy is imported as %+v, %v", out, err)
	}
	if !bytes.Equal(before, r.Pack(id, transfer.ExportRequest{})) {
		t.Error("the original changed")
	}
}

// A masked bundle is a whole bundle, of a copy: it is imported beside the original and elsewhere, is the same when it
// is made again, and extends what it brought once there is more.
func TestMaskedBundle(t *testing.T) {
	t.Parallel()
	r, id := secretive(t)
	fork, err := r.Branches().Fork(t.Context(), id, engine.Point{}, "fork of "+secretKey)
	if err != nil {
		t.Fatal(err)
	}
	r.Ask(fork.ID, "on the fork: "+secretKey).WantDone(t, scrollback.TurnComplete, "stop")
	for _, of := range []scrollback.ConversationID{id, fork.ID} {
		file := exportMasked(t, r, of, transfer.ExportRequest{Materialize: true})
		if !bytes.Equal(file, exportMasked(t, r, of, transfer.ExportRequest{Materialize: true})) {
			t.Error("made again, it is another file")
		}
		far := enginetest.New(t, enginetest.Options{Limit: 4000, NoFolds: true}, modeltest.Say("fine"))
		for _, at := range []*enginetest.Rig{far, r} {
			got := brings(at, file, transfer.ImportRequest{}, transfer.ResultCreated)
			if got.ID == of || len(at.Log(got.ID)) != len(r.Log(of)) {
				t.Errorf("%s came as %s with %d messages instead of %d", of, got.ID, len(at.Log(got.ID)), len(r.Log(of)))
			}
			healthy(at)
			brings(at, file, transfer.ImportRequest{}, transfer.ResultUnchanged)
			for _, m := range at.Log(got.ID) {
				if masked, n := secrets.MaskText(m.Parts.Text()); n > 0 {
					t.Errorf("#%d has more to be masked: %s", m.Seq, masked)
				}
			}
		}
		r.Ask(of, "more about "+secretKey).WantDone(t, scrollback.TurnComplete, "stop")
		more := exportMasked(t, r, of, transfer.ExportRequest{})
		brings(far, more, transfer.ImportRequest{}, transfer.ResultExtended)
		healthy(far)
	}
}

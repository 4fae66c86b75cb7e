package server_test

import (
	"bytes"
	"context"
	"flag"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/internal/server"
	"github.com/scrollback-ai/scrollback/internal/server/tour"
	"github.com/scrollback-ai/scrollback/internal/testlength"
	"github.com/scrollback-ai/scrollback/internal/transfer"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// readme is where the pictures of the READMEs are written, with -readme=../docs/pictures.
var readme = flag.String("readme", "", "write the pictures of the READMEs into this folder")

// scene is what the pictures show, in one language.
type scene struct {
	lang, query, question, answer string
	others                        [][2]string // titles and projects of the other conversations
}

// loop is the rest of the code that both answers show.
const loop = "for _, o := range obs {\n\tif o.Missing {\n\t\tcontinue\n\t}\n\trows = append(rows, design(o.Time, constituents))\n}\n```\n"

var scenes = []scene{
	{lang: "en", query: "station 7 datum",
		question: "Which correction do we use at station 7 now, and how does the fit treat the gap in July? Show the table and the code.",
		answer: "Station 7 uses **+0.184 m**, because it was moved to the new datum #1501. " +
			"The July gap is *not* filled: the fit leaves those hours out.\n\n" +
			"| Station | Datum | Correction | Residual |\n|---|---:|---:|---:|\n| 3 Old quay | 2019 | −0.021 m | 1.9 cm |\n" +
			"| 5 Ferry pier | 2019 | +0.007 m | 2.2 cm |\n| 7 North mole | 2026 | +0.184 m | 2.4 cm |\n\n" +
			"The level is the usual sum of constituents, so a missing hour only removes a row from the fit:\n\n" +
			"$$h(t) = z_0 + \\sum_{k=1}^{8} A_k \\cos(\\omega_k t - \\varphi_k)$$\n\n" +
			"```go\n// fit leaves out the hours without a reading.\n" + loop,
		others: [][2]string{{"Berth plan for the winter", "harbour"}, {"Go: a store that survives power loss", "lab"},
			{"Letter to the pilots’ association", "office"}}},
	{lang: "zh", query: "7 号站 新基准", question: "7 号站现在用哪个改正？拟合怎么处理 7 月的空缺？请给出表格和代码。",
		answer: "7 号站现在用 **+0.184 米**，因为它改用了新基准 #1501。7 月的空缺**不补**：拟合时跳过这些小时。\n\n" +
			"| 站 | 基准 | 改正 | 残差 |\n|---|---:|---:|---:|\n| 3 旧码头 | 2019 | −0.021 米 | 1.9 厘米 |\n" +
			"| 5 轮渡码头 | 2019 | +0.007 米 | 2.2 厘米 |\n| 7 北防波堤 | 2026 | +0.184 米 | 2.4 厘米 |\n\n水位是各分潮之和，缺一个小时只会让拟合少一行：\n\n" +
			"$$h(t) = z_0 + \\sum_{k=1}^{8} A_k \\cos(\\omega_k t - \\varphi_k)$$\n\n" +
			"```go\n// fit 跳过没有读数的小时。\n" + loop,
		others: [][2]string{{"冬季泊位计划", "港务"}, {"Go：断电不丢数据的存储", "实验"}, {"给引航协会的信", "办公"}}},
}

// gallery serves the sample with a turn that looks something up and answers in Markdown.
func gallery(t *testing.T, s scene) (url string, id scrollback.ConversationID) {
	t.Helper()
	script := modeltest.NewScript(model.Facts{Name: "qwen3:32b", Limit: 32_000, NoSummaries: true},
		modeltest.Call(scrollback.ToolCall{ID: "c1", Name: "context_search",
			Arguments: []byte(`{"query":"` + s.query + `","limit":3}`)}),
		modeltest.Say(s.answer))
	sb, err := local.Open(t.Context(), t.TempDir(),
		&local.Options{Model: "qwen3:32b", Models: map[string]model.Model{"qwen3:32b": script},
			Engine: engine.Options{NoTitleCalls: true}})
	if err != nil {
		t.Fatal(err)
	}
	o := server.Options{Version: "test", Log: slog.New(slog.DiscardHandler)}
	srv := httptest.NewServer(server.Handler(sb.Engine, sb.Transfer, o, true))
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		if err := sb.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	for _, o := range s.others {
		if _, _, err := sb.Create(t.Context(), scrollback.Conversation{Title: o[0], Project: o[1]}); err != nil {
			t.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := tour.WriteSample(&file, s.lang, time.Now()); err != nil {
		t.Fatal(err)
	}
	// and so without its bar
	text := bytes.Replace(file.Bytes(), []byte(`"sample":true`), []byte(`"from":"the sample"`), 1)
	text = bytes.Replace(text, []byte(`"model":"offline"`), []byte(`"model":"qwen3:32b"`), 1)
	out, err := sb.Import(t.Context(), bytes.NewReader(text), transfer.ImportRequest{Format: "jsonl", Project: "harbour"})
	if err != nil {
		t.Fatal(err)
	}
	id = out.Conversations[0].ID
	ask := engine.TurnRequest{Conversation: id, Message: scrollback.Say(s.question)}
	if _, err := scrollback.ReplyOf(sb.Turn(t.Context(), ask)); err != nil {
		t.Fatal(err)
	}
	return srv.URL, id
}

// coloured sets what the system says about light and dark.
func coloured(scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	})
}

// The pictures of the READMEs show what the page draws of a real turn: the look-up, the table,
// the formula, the code, and the same turn as the model sees it; in both languages and themes.
func TestPicturesOfTheREADMEs(t *testing.T) {
	testlength.SkipShort(t)
	t.Parallel()
	for _, s := range scenes {
		t.Run(s.lang, func(t *testing.T) {
			url, id := gallery(t, s)
			ctx := browser(t)
			if err := chromedp.Do(ctx); err != nil {
				t.Fatal(err)
			}
			d := &pageRig{T: t, ctx: ctx, url: url}
			shot := func(name string) {
				if *readme == "" {
					return
				}
				picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
				if err == nil {
					err = os.WriteFile(filepath.Join(*readme, s.lang+"-"+name+".png"), picture, 0o644)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			d.do("opened", chromedp.EmulateViewport(1360, 900), coloured("light"), chromedp.Navigate(url),
				chromedp.Evaluate[chromedp.Void](`localStorage.setItem('scrollback.lang', '`+s.lang+`')`),
				chromedp.Navigate(url+"/#"+string(id)), chromedp.Reload(),
				chromedp.WaitVisible(`[data-seq="3004"] table`), chromedp.WaitVisible(`[data-seq="3004"] math`),
				chromedp.WaitVisible(`[data-seq="3004"] pre`),
				chromedp.WaitVisible(`[data-seq="3004"] a.ref.compacted`), chromedp.WaitVisible(".minimap"))
			shot("light")
			d.do("dark", coloured("dark"))
			shot("dark")
			d.do("the model sees", coloured("light"),
				chromedp.Evaluate[chromedp.Void](`document.querySelectorAll('.switch button')[1].click()`),
				chromedp.WaitVisible(".model .stand"))
			shot("model-light")
			d.do("dark again", coloured("dark"))
			shot("model-dark")
		})
	}
}

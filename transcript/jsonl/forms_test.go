package jsonl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/transcript/jsonl"
)

// told returns what the messages of a file say: their conversations, roles and parts.
func told(t *testing.T, file string) (out []string, bad int) {
	t.Helper()
	_, entries, wrong := read(t, file)
	for _, e := range entries {
		line := e.Source + "|" + string(e.Message.Role)
		for i, p := range e.Message.Parts {
			switch p := p.(type) {
			case scrollback.Text:
				line += " " + p.Text
			case scrollback.Reasoning:
				line += " (" + p.Text + ")"
			case scrollback.ToolCall:
				line += " " + p.ID + "=" + p.Name + string(p.Arguments)
			case scrollback.ToolResult:
				line += " " + p.CallID + ":" + p.Text
			case scrollback.Image:
				line += " " + p.MediaType
				if len(e.Bytes[i]) > 0 {
					line += " with bytes"
				}
			}
		}
		out = append(out, line)
	}
	return out, len(wrong)
}

// Messages are read in the forms in which others write them.
func TestForms(t *testing.T) {
	files := map[string]string{}
	names, err := filepath.Glob("testdata/forms/*")
	if err != nil || len(names) != 5 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = string(b)
	}
	files["pretty"] = "[\n  {\n    \"role\": \"user\",\n    \"content\": \"one\"\n  },\n" +
		"  {\"role\": \"model\", \"parts\": [{\"text\": \"two\"}]}\n]\n"
	files["contents"] = `{"contents":[{"role":"user","parts":[{"text":"one"}]},{"role":"model","parts":[{"text":"two"}]}]}`
	files["lists"] = `[[{"role":"user","content":"one"}],[{"role":"human","content":"two"}]]`
	files["anthropic"] = `{"system":"Be brief.","messages":[{"role":"user","content":"one"},{"role":"assistant","content":` +
		`[{"type":"tool_use","id":"t","name":"look","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"it"}]}]}`
	files["names in capitals"] = `[{"role":"User","content":"one"},{"role":"ASSISTANT","content":"two"},{"role":" Human ","content":"three"}]`
	files["a prompt"] = `{"prompt":"one","completion":"two"}` + "\n" + `{"prompt":"three","completion":"four"}`
	files["an instruction"] = `[{"instruction":"add","input":"1 2","output":"3"},{"instruction":"greet","input":"","output":"hi"}]`
	files["talks"] = `{"conversations":[{"id":"a","messages":[{"role":"user","content":"one"}]},` +
		`{"id":"b","messages":[{"role":"user","content":"two"}]}]}`
	files["responses"] = `{"model":"m","instructions":"Be brief.","input":[` +
		`{"role":"user","content":[{"type":"input_text","text":"one"}]},` +
		`{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},` +
		`{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},` +
		`{"type":"function_call_output","call_id":"c","output":"ok"},` +
		`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"two"}]}]}`
	for name, want := range map[string]string{
		"names in capitals": "|user one;|assistant two;|user three",
		"a prompt":          "|user one;|assistant two;2|user three;2|assistant four",
		"an instruction":    "|user add\n\n1 2;|assistant 3;2|user greet;2|assistant hi",
		"talks":             "a|user one;b|user two",
		"responses":         "|user one;|assistant (hm);|assistant c=f{};|tool c:ok;|assistant two",
		"messages.json":     "|system Be brief.;|user How wide is the gate?;|assistant Twelve metres.",
		"chat-request.json": `|user How wide is the gate?;|assistant c1=measure{"gate":1};|tool c1:12;|assistant Twelve metres.`,
		"finetune.jsonl":    "|user Name a knot.;|assistant Bowline.;2|user Another.;2|assistant Clove hitch.",
		"sharegpt.json":     "s1|user Name a fish.;s1|assistant Cod.",
		"openai-lines.jsonl": `|user What is on the picture? image/png with bytes;|` +
			`assistant c1=look{"at":"it"};|tool c1:a pixel;|assistant (hm) One pixel.;|system Be brief.`,
		"pretty":    "|user one;|assistant two",
		"contents":  "|user one;|assistant two",
		"lists":     "|user one;2|user two",
		"anthropic": "|user one;|assistant t=look{};|user t:it",
	} {
		if !(jsonl.Format{}).Sniff([]byte(files[name])) {
			t.Errorf("%s: it is not known", name)
		}
		got, bad := told(t, files[name])
		if strings.Join(got, ";") != want || bad != 0 {
			t.Errorf("%s: %q with %d bad, want %q", name, strings.Join(got, ";"), bad, want)
		}
	}
}

// What a request tells a model for all of it is kept, in whichever form it stands, and so are the
// times of messages under the names that others give them.
func TestInstructionsAndTimes(t *testing.T) {
	for _, about := range []string{`"system":"Be brief."`, `"system":[{"type":"text","text":"Be brief."}]`,
		`"system":[{"text":"Be brief."}]`,
		`"systemInstruction":{"parts":[{"text":"Be brief."}]}`, `"instructions":"Be brief."`} {
		told := ""
		for e, err := range (jsonl.Format{}).Read(strings.NewReader(`{` + about +
			`,"messages":[{"role":"user","content":"one"}]}`)) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Conversation != nil {
				told = e.Conversation.Instructions
			}
		}
		if told != "Be brief." {
			t.Errorf("%s: instructions %q", about, told)
		}
	}
	for field, want := range map[string]int64{
		`"created_at":1709280000000`: 1709280000000, `"created_at":1709280000`: 1709280000000,
		`"timestamp":"2024-03-01T08:00:00Z"`:     1709280000000,
		`"create_time":1709280000.5`:             1709280000500,
		`"createdAt":"2024-03-01T08:00:00.000Z"`: 1709280000000, `"date":"in spring"`: 0, `"time":7`: 7,
	} {
		_, entries, bad := read(t, `{"role":"user","content":"one",`+field+`}`)
		if len(entries) != 1 || len(bad) > 0 || entries[0].Message.CreatedAt != want {
			t.Errorf("%s: %+v, bad %v", field, entries, bad)
		}
	}
}

// A message that says nothing is none, and is named.
func TestNothingSaid(t *testing.T) {
	got, bad := told(t, `{"role":"user","message":{"text":"x"}}`+"\n"+`{"role":"user"}`)
	if len(got) != 0 || bad != 2 {
		t.Errorf("%q with %d bad", got, bad)
	}
}

// What goes back to a model with a call or a thought is kept where it came, in every form.
func TestPayloads(t *testing.T) {
	for name, test := range map[string]struct{ message, want string }{
		"a call": {`"content":null,"tool_calls":[{"id":"c","type":"function","extra_content":{"google":{"thought_signature":"A<B"}},` +
			`"function":{"name":"f","arguments":"{}"}}]`, `call {"extra_content":{"google":{"thought_signature":"A<B"}}}`},
		"a gateway's": {`"content":null,"tool_calls":[{"id":"c","provider_specific_fields":{"thought_signature":"AB"},` +
			`"function":{"name":"f","arguments":"{}"}}]`, `call {"provider_specific_fields":{"thought_signature":"AB"}}`},
		"details": {`"content":"x","reasoning":"hm","reasoning_details":[{"type":"reasoning.encrypted","data":"AB"}]`,
			`thought {"details":[{"type":"reasoning.encrypted","data":"AB"}]}, text `},
		"details alone": {`"content":"","reasoning_details":[{"type":"reasoning.encrypted","data":"AB"}]`,
			`thought {"details":[{"type":"reasoning.encrypted","data":"AB"}]}`},
		"thinking": {`"content":[{"type":"thinking","thinking":"hm","signature":"AB"},{"type":"redacted_thinking","data":"CD"},` +
			`{"type":"text","text":"x"}]`, `thought {"signature":"AB"}, thought {"redacted":"CD"}, text `},
		"parts": {`"parts":[{"text":"hm","thought":true,"thoughtSignature":"T"},{"text":"x","thoughtSignature":"X"},` +
			`{"functionCall":{"name":"f","args":{}},"thoughtSignature":"C"},{"thoughtSignature":"E"}]`,
			`thought "T", text "X", call "C", text "E"`},
	} {
		_, entries, bad := read(t, `{"role":"assistant",`+test.message+`}`)
		if len(entries) != 1 || len(bad) > 0 {
			t.Errorf("%s: %d messages, bad %v", name, len(entries), bad)
			continue
		}
		var got []string
		for _, p := range entries[0].Message.Parts {
			switch p := p.(type) {
			case scrollback.Text:
				got = append(got, "text "+string(p.Opaque))
			case scrollback.Reasoning:
				got = append(got, "thought "+string(p.Opaque))
			case scrollback.ToolCall:
				got = append(got, "call "+string(p.Opaque))
			}
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %s, want %s", name, strings.Join(got, ", "), test.want)
		}
	}
}

// A record that says nothing does not become a message: it is named, and those beside it are read.
func TestMessagesWithoutContent(t *testing.T) {
	for _, empty := range []string{`"content":null`, `"content":""`, `"content":" \n"`, `"content":[]`,
		`"content":[{"type":"text","text":""}]`,
		`"content":[{"type":"text","text":null}]`, `"parts":null`, `"parts":[]`, `"content":null,"status":"complete"`,
		`"name":"a"`} {
		one := `{"role":"user",` + empty + `}`
		for form, file := range map[string]string{
			"lines": `{"role":"user","content":"a"}` + "\n" + one + "\n" + `{"role":"assistant","content":"b"}` + "\n",
			"list":  `[{"role":"user","content":"a"},` + one + `,{"role":"assistant","content":"b"}]`,
			"talk":  `{"messages":[{"role":"user","content":"a"},` + one + `,{"role":"assistant","content":"b"}]}`,
		} {
			said := ""
			bad := 0
			for e, err := range (jsonl.Format{}).Read(strings.NewReader(file)) {
				switch {
				case err != nil:
					t.Fatal(err)
				case e.Bad != nil:
					bad++
				case e.Conversation == nil:
					said += "<" + e.Message.Parts.Text() + ">"
				}
			}
			if said != "<a><b>" || bad != 1 {
				t.Errorf("%s in a %s: %s, and %d bad lines", empty, form, said, bad)
			}
		}
	}
	// A call, a result without a text, and an answer that was cut off before its first word say something.
	for _, line := range []string{`{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}`,
		`{"role":"tool","tool_call_id":"c","content":null}`, `{"role":"assistant","content":[],"status":"interrupted"}`} {
		for e, err := range (jsonl.Format{}).Read(strings.NewReader(line)) {
			if err != nil || e.Bad != nil {
				t.Errorf("%s: %v %+v", line, err, e.Bad)
			}
		}
	}
}

package responsesapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback/internal/wire"
	"github.com/scrollback-ai/scrollback/model/modeltest"
)

// item is an item of an input.
type item struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Phase     string          `json:"phase"`
	Encrypted string          `json:"encrypted_content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    string          `json:"output"`
}

// readContent returns the content of a message, which may be a text.
func (it item) readContent() []wire.InputContent {
	var list []wire.InputContent
	if json.Unmarshal(it.Content, &list) == nil {
		return list
	}
	var text string
	if json.Unmarshal(it.Content, &text) == nil {
		return []wire.InputContent{{Type: "input_text", Text: text}}
	}
	return nil
}

// inputCheck is an input that is being judged.
type inputCheck struct {
	s     *server
	model string
	rs    map[string]bool // reasoning so far
	last  string          // reasoning that wants what follows it
	open  []string        // calls without an output

	called map[string]bool // ids of calls so far
}

func (s *server) judgeItems(req wire.ResponsesRequest) *modeltest.Refused {
	if len(req.Input) == 0 {
		return s.refuseParam("no input", "input", "missing_required_parameter",
			"One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided.")
	}
	in := &inputCheck{s: s, model: req.Model, rs: map[string]bool{}, called: map[string]bool{}}
	for i, raw := range req.Input {
		var it item
		if json.Unmarshal(raw, &it) != nil {
			return s.refuseParam("item", fmt.Sprintf("input[%d]", i), "invalid_type",
				fmt.Sprintf("Invalid type for 'input[%d]'.", i))
		}
		if why := in.checkItem(i, it); why != nil {
			return why
		}
	}
	switch {
	case in.last != "":
		return s.refuseParam("reasoning alone", "input", "",
			fmt.Sprintf("Item '%s' of type 'reasoning' was provided without its required following item.", in.last))
	case len(in.open) > 0:
		return s.refuseParam("no output", "input", "", fmt.Sprintf("No tool output found for function call %s.", in.open[0]))
	}
	return nil
}

func (in *inputCheck) checkItem(i int, it item) *modeltest.Refused {
	if it.Type == "reasoning" {
		return in.checkReasoning(it)
	}
	follows := in.last
	in.last = ""
	switch it.Type {
	case "message", "":
		return in.checkMessage(i, it)
	case "function_call":
		return in.checkCall(i, it)
	case "function_call_output":
		at := slices.Index(in.open, it.CallID)
		if follows != "" {
			return in.s.refuseParam("reasoning alone", "input", "",
				fmt.Sprintf("Item '%s' of type 'reasoning' was provided without its required following item.", follows))
		}
		if at < 0 {
			return in.s.refuseParam("no call", "input", "",
				fmt.Sprintf("No tool call found for function call output with call_id %s.", it.CallID))
		}
		in.open = slices.Delete(in.open, at, at+1)
		return nil
	}
	return in.s.refuseParam("type", fmt.Sprintf("input[%d]", i), "invalid_value",
		fmt.Sprintf("Invalid value: '%s'. Supported values are: 'function_call', 'function_call_output', 'message', 'reasoning'.", it.Type))
}

func (in *inputCheck) checkReasoning(it item) *modeltest.Refused {
	s := in.s
	s.mu.Lock()
	made, ok := s.thoughts[it.Encrypted]
	s.mu.Unlock()
	switch {
	case it.Encrypted == "":
		return modeltest.Refused{Rule: "stored",
			Status: http.StatusNotFound}.WithWords(
			"Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", it.ID)
	case !ok || made.model != in.model || it.ID != "" && it.ID != made.id || s.o.Forgets:
		shown := it.Encrypted[:min(4, len(it.Encrypted))] + "..." + it.Encrypted[max(len(it.Encrypted)-4, 0):]
		return modeltest.Refused{Rule: "encrypted", Status: http.StatusBadRequest,
			Code: "invalid_encrypted_content"}.WithWords(
			"The encrypted content %s could not be verified. Reason: Encrypted content could not be decrypted or parsed.", shown)
	case in.rs[made.id]:
		return s.refuseParam("twice", "input", "",
			fmt.Sprintf("Duplicate item found with id %s. Remove duplicate items from your input and try again.", made.id))
	}
	in.rs[made.id] = true
	in.last = made.id
	return nil
}

func (in *inputCheck) checkCall(i int, it item) *modeltest.Refused {
	s := in.s
	s.mu.Lock()
	thought, ok := s.calls[it.ID]
	s.mu.Unlock()
	switch {
	case it.ID != "" && !strings.HasPrefix(it.ID, "fc_"):
		return s.refuseParam("call's item", fmt.Sprintf("input[%d].id", i), "invalid_value",
			fmt.Sprintf("Invalid 'input[%d].id': '%s'. Expected an ID that begins with 'fc'.", i, it.ID))
	case len(it.ID) > 64 || len(it.CallID) > 64:
		return s.refuseParam("id's length", fmt.Sprintf("input[%d].call_id", i), "string_above_max_length",
			fmt.Sprintf("Invalid 'input[%d].call_id': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", i, max(len(it.ID), len(it.CallID))))
	case it.ID != "" && !ok:
		return modeltest.Refused{Rule: "stored",
			Status: http.StatusNotFound}.WithWords(
			"Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", it.ID)
	case it.ID != "" && thought != "" && !in.rs[thought]:
		return s.refuseParam("call without reasoning", "input", "",
			fmt.Sprintf("Item '%s' of type 'function_call' was provided without its required 'reasoning' item: '%s'.", it.ID,
				thought))
	case it.CallID == "" || it.Name == "":
		return s.refuseParam("call", fmt.Sprintf("input[%d].call_id", i), "missing_required_parameter",
			fmt.Sprintf("Missing required parameter: 'input[%d].call_id'.", i))
	}
	if in.called[it.CallID] {
		return s.refuseParam("call twice", "input", "",
			fmt.Sprintf("Duplicate item found with id %s. Remove duplicate items from your input and try again.", it.CallID))
	}
	in.called[it.CallID] = true
	in.open = append(in.open, it.CallID)
	return nil
}

func (in *inputCheck) checkMessage(i int, it item) *modeltest.Refused {
	roles := []string{"assistant", "system", "developer", "user"}
	if in.s.o.XAI {
		roles = []string{"assistant", "system", "user"}
	}
	if !slices.Contains(roles, it.Role) {
		return in.s.refuseParam("role", fmt.Sprintf("input[%d].role", i), "invalid_value",
			fmt.Sprintf("Invalid value: '%s'. Supported values are: '%s'.", it.Role, strings.Join(roles, "', '")))
	}
	if it.Phase != "" && it.Phase != "commentary" && it.Phase != "final_answer" {
		return in.s.refuseParam("phase", fmt.Sprintf("input[%d].phase", i), "invalid_value",
			fmt.Sprintf("Invalid value: '%s'. Supported values are: 'commentary' and 'final_answer'.", it.Phase))
	}
	list := it.readContent()
	if len(list) == 0 {
		return in.s.refuseParam("content", fmt.Sprintf("input[%d].content", i), "missing_required_parameter",
			fmt.Sprintf("Missing required parameter: 'input[%d].content'.", i))
	}
	for j, c := range list {
		takes := []string{"input_text", "input_image"}
		if it.Role == "assistant" {
			takes = []string{"output_text", "refusal"}
		}
		if !slices.Contains(takes, c.Type) {
			return in.s.refuseParam("content", fmt.Sprintf("input[%d].content[%d]", i, j), "invalid_value",
				fmt.Sprintf("Invalid value: '%s'. Supported values are: '%s'.", c.Type, strings.Join(takes, "' and '")))
		}
		inline := strings.HasPrefix(c.ImageURL, "data:image/") && strings.Contains(c.ImageURL, ";base64,")
		switch {
		case c.Type != "input_image":
		case !slices.Contains([]string{"", "low", "high", "auto"}, c.Detail):
			return in.s.refuseParam("detail", fmt.Sprintf("input[%d].content[%d].detail", i, j), "invalid_value",
				fmt.Sprintf("Invalid value: '%s'. Supported values are: 'low', 'high', and 'auto'.", c.Detail))
		case strings.HasPrefix(c.ImageURL, Gone):
			return in.s.refuseParam("image-gone", "url", "invalid_value",
				fmt.Sprintf("Error while downloading %s. Upstream status code: 404.", c.ImageURL))
		case !inline && !strings.HasPrefix(c.ImageURL, "https://") && !strings.HasPrefix(c.ImageURL, "http://"):
			return in.s.refuseParam("image", fmt.Sprintf("input[%d].content[%d].image_url", i, j), "invalid_value",
				fmt.Sprintf("Invalid 'input[%d].content[%d].image_url'. Expected a valid URL, but got a value with an invalid format.", i, j))
		}
	}
	return nil
}

// Gone is the beginning of addresses at which there is no image.
const Gone = "https://gone.example/"

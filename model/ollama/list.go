package ollama

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// patience bounds how long a question beside an answer may take.
const patience = 10 * time.Second

// OfferedModels implements model.Offerer: the models that were pulled, but for those that only embed
// texts.
func (m *Model) OfferedModels(ctx context.Context) ([]string, error) {
	var pulled struct {
		Models []struct {
			Name text `json:"name"`
		} `json:"models"`
	}
	if err := m.askJSON(ctx, "/api/tags", nil, &pulled); err != nil {
		return nil, err
	}
	var names []string
	for _, one := range pulled.Models {
		if name := string(one.Name); name != "" && !strings.Contains(strings.ToLower(name), "embed") {
			names = append(names, m.at.Options.Provider+"/"+name)
		}
	}
	return names, nil
}

// List implements model.Lister. The window is the one that is served: that of the
// loaded model, else what its Modelfile sets, else that of a model which Ollama's
// cloud serves. What the model was trained for is not the window that is served here.
func (m *Model) List(ctx context.Context) (limit, maxOutput int64, err error) {
	var running struct {
		Models []struct {
			Name   text  `json:"name"`
			Model  text  `json:"model"`
			Served count `json:"context_length"`
		} `json:"models"`
	}
	if !m.cloud {
		if err := m.askJSON(ctx, "/api/ps", nil, &running); err != nil {
			return 0, 0, err
		}
	}
	for _, one := range running.Models {
		if one.Served > 0 && (isSameModel(string(one.Model), m.at.Model) || isSameModel(string(one.Name), m.at.Model)) {
			return int64(one.Served), 0, nil
		}
	}
	var shown struct {
		Parameters text                       `json:"parameters"`
		RemoteHost text                       `json:"remote_host"`
		Info       map[string]json.RawMessage `json:"model_info"`
	}
	if err := m.askJSON(ctx, "/api/show", map[string]string{"model": m.at.Model}, &shown); err != nil {
		return 0, 0, err
	}
	if n := readParameter(string(shown.Parameters), "num_ctx"); n > 0 {
		return n, 0, nil
	}
	if !m.cloud && shown.RemoteHost == "" {
		return 0, 0, nil
	}
	for name, raw := range shown.Info {
		var n count
		if strings.HasSuffix(name, ".context_length") && json.Unmarshal(raw, &n) == nil && n > 0 {
			return int64(n), 0, nil
		}
	}
	return 0, 0, nil
}

// isSameModel reports whether two names mean the same model. A name without a tag means latest.
func isSameModel(a, b string) bool {
	full := func(s string) string {
		s = strings.TrimPrefix(strings.ToLower(s), "registry.ollama.ai/")
		s = strings.TrimPrefix(s, "library/")
		if strings.LastIndexByte(s, ':') <= strings.LastIndexByte(s, '/') {
			s += ":latest"
		}
		return s
	}
	return full(a) == full(b)
}

// readParameter returns a number that a Modelfile sets, as /api/show lists it: one a line,
// and large ones as 1.048576e+06.
func readParameter(list, name string) int64 {
	for one := range strings.Lines(list) {
		if f := strings.Fields(one); len(f) == 2 && f[0] == name {
			if n, err := strconv.ParseFloat(f[1], 64); err == nil && n > 0 && n < 1<<40 {
				return int64(n)
			}
		}
	}
	return 0
}

// askJSON sends a request whose response is one JSON object. A nil body means GET.
func (m *Model) askJSON(ctx context.Context, path string, body, into any) error {
	return m.asking.RequestJSON(ctx, m.newExchange(path, body), patience, into)
}

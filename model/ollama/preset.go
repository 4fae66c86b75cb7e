package ollama

import (
	"cmp"
	"strings"

	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/remote"
)

// port is where Ollama listens.
const port = "11434"

// Preset is Ollama on this machine, or where OLLAMA_BASE_URL or else Ollama's own
// OLLAMA_HOST says.
func Preset() remote.Preset {
	return remote.Preset{
		Name: "ollama", URL: "http://127.0.0.1:" + port, Key: "OLLAMA_API_KEY", Base: "OLLAMA_BASE_URL", Local: true,
		Host: "OLLAMA_HOST", Address: hostAddress,
		Open: func(at remote.Endpoint) model.Model { return New(at) },
	}
}

// hostAddress returns what OLLAMA_HOST means to a client, as Ollama's own reads it: a host,
// a port or both, with or without a scheme. Where a server listens on every address,
// a client asks this machine.
func hostAddress(host string) string {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(host), "://")
	standard := map[string]string{"http": "80", "https": "443"}[strings.ToLower(scheme)]
	if !ok {
		scheme, rest, standard = "http", scheme, port
		if strings.EqualFold(rest, "ollama.com") {
			scheme = "https"
			standard = "443"
		}
	}
	rest, path, _ := strings.Cut(rest, "/")
	name := rest
	number := ""
	if at := strings.LastIndexByte(rest, ':'); at >= 0 && (strings.Count(rest, ":") == 1 || rest[max(at-1, 0)] == ']') {
		name = rest[:at]
		number = rest[at+1:]
	}
	switch name = strings.Trim(name, "[]"); name {
	case "", "0.0.0.0":
		name = "127.0.0.1"
	case "::":
		name = "::1"
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	return strings.TrimRight(scheme+"://"+name+":"+cmp.Or(number, standard)+"/"+path, "/")
}

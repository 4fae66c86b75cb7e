package server

import (
	"net/http"

	"github.com/scrollback-ai/scrollback/internal/server/anthropic"
	"github.com/scrollback-ai/scrollback/internal/server/faces"
	"github.com/scrollback-ai/scrollback/internal/server/gemini"
	"github.com/scrollback-ai/scrollback/internal/server/modellist"
	"github.com/scrollback-ai/scrollback/internal/server/ollama"
	"github.com/scrollback-ai/scrollback/internal/server/openai"
)

// mountFaces mounts the faces of other APIs.
func mountFaces(mux *http.ServeMux, o faces.Options) {
	openai.Mount(mux, o)
	anthropic.Mount(mux, o)
	gemini.Mount(mux, o)
	ollama.Mount(mux, o)
	modellist.Mount(mux, o)
}

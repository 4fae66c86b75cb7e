package ipynb_test

import (
	"testing"

	"github.com/scrollback-ai/scrollback/transcript/ipynb"
	"github.com/scrollback-ai/scrollback/transcript/notebooktest"
)

var kind = notebooktest.Kind{Importer: ipynb.Format{}, Exporter: ipynb.Format{}, Open: ipynb.Open, New: ipynb.New, List: "cells"}

func TestNotebook(t *testing.T) { notebooktest.Run(t, kind) }

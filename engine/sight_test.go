package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/engine"
	"github.com/scrollback-ai/scrollback/engine/enginetest"
)

func TestSightDraft(t *testing.T) {
	_ = fmt.Sprint
	_ = strings.Repeat
	_ = json.Marshal
	_ = scrollback.Manifest{}
	_ = engine.ContextRequest{}
	_ = enginetest.Say
	_ = context.Background
}

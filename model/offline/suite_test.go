package offline_test

import (
	"testing"
	"time"

	"github.com/scrollback-ai/scrollback/model"
	"github.com/scrollback-ai/scrollback/model/modeltest"
	"github.com/scrollback-ai/scrollback/model/offline"
)

func TestSuite(t *testing.T) {
	for name, o := range map[string]*offline.Options{"at once": nil, "paced": {Pace: time.Microsecond}} {
		t.Run(name, func(t *testing.T) {
			modeltest.Run(t, func(*testing.T) model.Model { return offline.New(o) })
		})
	}
}

package engine

import (
	"context"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/threading"
)

// madeScope is where ids are named that live at a provider, whoever's conversation made them: no thread is in it.
var madeScope = threading.Scope{Project: "\x00at a provider"}

// CheckMadeIDs refuses ids of what lives at a provider, such as files and containers, if an answer to another caller
// made one of them: the credential that reaches them may be shared. An id that was never seen here passes.
func (v *View) CheckMadeIDs(ctx context.Context, ids []string) error {
	for _, id := range ids {
		makers, err := v.e.store.Threads.Index().Named(ctx, madeScope, id, 1)
		if err != nil {
			return err
		}
		if len(makers) > 0 && makers[0].Scope.Caller != v.threadScope("").Caller {
			return scrollback.Errorf(scrollback.NotFound, "engine.CheckMadeIDs", i18n.NothingAtProvider, id)
		}
	}
	return nil
}

// NoteMadeIDs remembers that an answer in a conversation made what has these ids at a provider.
func (v *View) NoteMadeIDs(ctx context.Context, of scrollback.ConversationID, ids []string) error {
	if _, err := v.door.openHead(ctx, of, scrollback.AccessWrite); err != nil {
		return err
	}
	for _, id := range ids {
		makers, err := v.e.store.Threads.Index().Named(ctx, madeScope, id, 1)
		if err == nil && len(makers) == 0 {
			err = v.e.store.Threads.Write(ctx, threading.Rows{Name: &threading.NameRow{Scope: madeScope, Name: id,
				Thread: threading.ThreadID(of)}})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Package socket lets a hook ask the program that has the store open, over a unix socket in the data folder: that
// program is warm, and knows databases that a hook does not open. Only the look-ups go over the socket. What is told,
// and what is noted of it, is decided by the hook, whoever looked it up, so that it tells the same either way.
//
// Words it adds: server (the program that has the store open), greeting (what it says first, by which a hook sees that
// it is alive and has the store that is meant), judgement (whether a folder is of a place, which only the hook knows).
//
// Invariants: the socket is made for its owner alone; one program at a time has it, and who finds one that a killed
// program left takes its place; a server that is slow, dies or says nonsense costs a hook no more than its time.
//
// It may not know databases, agents or what is told.
package socket

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/scrollback-ai/scrollback/internal/store/evidence"
)

// FileName is the socket's in the data folder.
const FileName = "hook.sock"

// protocol is the version of what is said. Programs of different ones do not speak with each other.
const protocol = 1

// Bounds of what one side takes from the other.
const (
	maxQuestion = 4 << 20
	maxReply    = 32 << 20
)

// greeting is what a server says first.
type greeting struct {
	Protocol int    `json:"scrollback_hook"`
	Store    string `json:"store"` // names it
}

// question is what a hook asks: one of the pointers is set. Behind it come its judgements, as they are asked for.
type question struct {
	MS       int64     `json:"ms"` // how long it waits
	Find     *find     `json:"find,omitempty"`
	Stand    *stand    `json:"stand,omitempty"`
	HandBack *handBack `json:"hand_back,omitempty"`
}

type find struct {
	Prompt  string           `json:"prompt"`
	Place   place            `json:"place"`
	Session evidence.Session `json:"session"`
	Told    []evidence.Seen  `json:"told,omitempty"`
	Kept    bool             `json:"kept,omitempty"`
	Most    int              `json:"most,omitempty"`
}

type stand struct {
	Place   place            `json:"place"`
	Session evidence.Session `json:"session"`
	Since   int64            `json:"since"`
}

type handBack struct {
	Session evidence.Session `json:"session"`
	Said    string           `json:"said"`
}

// place is an [evidence.Place] without what judges folders. Has and Exclude say whether there is that.
type place struct {
	Folders []string `json:"folders"`
	Has     bool     `json:"has,omitempty"`
	Exclude bool     `json:"exclude,omitempty"`
	Without []string `json:"without,omitempty"`
}

func newPlace(p evidence.Place) place {
	return place{Folders: p.Folders, Has: p.Has != nil, Exclude: p.Exclude != nil, Without: p.Without}
}

// reply is what a server says to a question: what it needs to have judged first, and at last the answer.
type reply struct {
	Has     *string    `json:"has,omitempty"`     // a folder
	Exclude *[2]string `json:"exclude,omitempty"` // a tool and a folder

	Answer *evidence.Answer `json:"answer,omitempty"`
	List   *list            `json:"list,omitempty"`
	Error  string           `json:"error,omitempty"`
}

type list struct {
	Found []evidence.Found `json:"found"`
}

// judgement is a hook's.
type judgement struct {
	Yes bool `json:"yes"`
}

// talk is a connection of either side.
type talk struct {
	net.Conn
	in  *json.Decoder
	out *json.Encoder
}

func newTalk(c net.Conn, most int64) *talk {
	t := &talk{Conn: c, in: json.NewDecoder(io.LimitReader(c, most)), out: json.NewEncoder(c)}
	t.out.SetEscapeHTML(false)
	return t
}

// until ends what is under way on the connection when ctx ends; stop goes back to no bound.
func (t *talk) until(ctx context.Context) (stop func()) {
	_ = t.SetDeadline(time.Time{}) // of a connection that is closed reading says the same
	if end, bound := ctx.Deadline(); bound {
		_ = t.SetDeadline(end)
	}
	unhook := context.AfterFunc(ctx, func() { _ = t.SetDeadline(time.Unix(1, 0)) })
	return func() { unhook() }
}

// errGone is why a server that was there answers no more.
var errGone = errors.New("who served is gone")

// lost returns why nothing more comes over a connection: the time is over, or the other side is gone.
func lost(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return errGone
}

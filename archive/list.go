package archive

import (
	"context"
	"io"
	"iter"
	"strings"

	"gocloud.dev/blob"

	"github.com/scrollback-ai/scrollback"
)

// emptyPages is how many pages of a list may be empty one after the other and have another behind
// them; S3 itself sends such pages now and then.
const emptyPages = 100

// list yields the keys of the bucket that begin with a prefix, ascending. A service that sends the
// same again, or only says that there is more, ends it with an error.
func (a *Archive) list(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		empty, last := 0, ""
		endless := scrollback.Errorf(scrollback.Unavailable, "archive.List",
			"the list of objects does not end: check the object store").Because(scrollback.ErrObjects).Advise(scrollback.AdviceCheckAddress, "")
		list := a.bucket.List(&blob.ListOptions{Prefix: prefix, BeforeList: func(func(any) bool) error {
			if empty++; empty > emptyPages {
				return endless
			}
			return nil
		}})
		for {
			o, err := list.Next(ctx)
			if err == io.EOF { //nolint:errorlint // one of the connection is wrapped, and no end
				return
			}
			switch {
			case empty > emptyPages:
				err = endless
			case err == nil && (!strings.HasPrefix(o.Key, prefix) || o.Key <= last):
				err = endless
			}
			if err != nil {
				yield("", err)
				return
			}
			empty, last = 0, o.Key
			if !yield(o.Key, nil) {
				return
			}
		}
	}
}

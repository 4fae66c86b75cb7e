// Package listing lists the objects of a bucket to the true end of the list.
//
// It knows the portable library for object stores and nothing else.
package listing

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"

	"gocloud.dev/blob"
)

// ErrEndless says that a service sends the same again, or only says that there is more.
var ErrEndless = errors.New("the list of objects does not end")

// emptyPages is how many pages of a list may be empty one after the other and have another behind
// them; S3 itself sends such pages now and then.
const emptyPages = 100

// Objects yields the objects whose keys begin with prefix, ascending, and at last an error if the list
// did not come to its end.
func Objects(ctx context.Context, b *blob.Bucket, prefix string) iter.Seq2[*blob.ListObject, error] {
	return func(yield func(*blob.ListObject, error) bool) {
		empty := 0
		first := true
		last := ""
		list := b.List(&blob.ListOptions{Prefix: prefix, BeforeList: func(func(any) bool) error {
			if empty++; empty > emptyPages {
				return ErrEndless
			}
			return nil
		}})
		for {
			o, err := list.Next(ctx)
			// An end that something else wraps is that of a connection.
			if err == io.EOF { //nolint:errorlint // see above
				return
			}
			if empty > emptyPages || err == nil && (!strings.HasPrefix(o.Key, prefix) || !first && o.Key <= last) {
				err = ErrEndless
			}
			if err != nil {
				yield(nil, err)
				return
			}
			empty = 0
			first = false
			last = o.Key
			if !yield(o, nil) {
				return
			}
		}
	}
}

package cloud

import (
	"context"
	"io"
	"iter"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	ours "github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/local/objects"
)

// remoteBucket is a bucket of the portable library as one of ours.
type remoteBucket struct{ bucket *blob.Bucket }

// codedError is an error of the portable library that is one of ours as well.
type codedError struct {
	error
	is error
}

func (c codedError) Unwrap() error        { return c.error }
func (c codedError) Is(target error) bool { return target == c.is }

// translateError says by our errors what the code of an error of the library says.
func translateError(err error) error {
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		return codedError{err, ours.ErrMissing}
	case gcerrors.Canceled:
		return codedError{err, context.Canceled}
	}
	return err
}

// remoteReader reads an object.
type remoteReader struct{ *blob.Reader }

func (r remoteReader) MediaType() string { return r.ContentType() }

func (r remoteBucket) Open(ctx context.Context, key string) (ours.Reader, error) {
	opened, err := r.bucket.NewReader(ctx, key, nil)
	if err != nil {
		return nil, translateError(err)
	}
	return remoteReader{opened}, nil
}

func (r remoteBucket) OpenRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	opened, err := r.bucket.NewRangeReader(ctx, key, offset, length, nil)
	if err != nil {
		return nil, translateError(err)
	}
	return opened, nil
}

func (r remoteBucket) Attributes(ctx context.Context, key string) (ours.Attributes, error) {
	at, err := r.bucket.Attributes(ctx, key)
	if err != nil {
		return ours.Attributes{}, translateError(err)
	}
	return ours.Attributes{Size: at.Size, ModTime: at.ModTime}, nil
}

func (r remoteBucket) Write(ctx context.Context, key string, from io.Reader, mediaType string) error {
	return translateError(r.bucket.Upload(ctx, key, from, &blob.WriterOptions{ContentType: mediaType}))
}

func (r remoteBucket) Delete(ctx context.Context, key string) error {
	return translateError(r.bucket.Delete(ctx, key))
}

func (r remoteBucket) Close() error { return r.bucket.Close() }

// emptyPages is how many pages of a list may be empty one after the other and have another behind
// them; S3 itself sends such pages now and then.
const emptyPages = 100

func (r remoteBucket) List(ctx context.Context, prefix string) iter.Seq2[ours.Object, error] {
	return func(yield func(ours.Object, error) bool) {
		empty := 0
		first := true
		last := ""
		list := r.bucket.List(&blob.ListOptions{Prefix: prefix, BeforeList: func(func(any) bool) error {
			if empty++; empty > emptyPages {
				return ours.ErrEndless
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
				err = ours.ErrEndless
			}
			if err != nil {
				yield(ours.Object{}, translateError(err))
				return
			}
			empty = 0
			first = false
			last = o.Key
			if !yield(ours.Object{Key: o.Key, Size: o.Size}, nil) {
				return
			}
		}
	}
}

// signURL makes a URL by sign; empty where the bucket has no way to.
func (s *bucketService) signURL(ctx context.Context, key string, d objects.Download) (string, error) {
	at, err := s.sign(ctx, key, d)
	if gcerrors.Code(err) == gcerrors.Unimplemented {
		return "", nil
	}
	return at, translateError(err)
}

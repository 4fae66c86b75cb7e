// Package objects opens the place where the bytes of artifacts and archives are kept: a
// bucket of a service, a folder, or memory.
//
// Words it adds: place (where objects are, as a URL says it), service (a place that is
// reached over the network).
//
// Invariants:
//
//   - An error of a service that a person can do something about is said in our words:
//     [Store.Explain]. What the service wrote is in the error's Detail, for logs, and holds
//     no key.
//   - A service is never asked to check more than the request itself: those that are not
//     Amazon's refuse the checksums that its client adds by itself.
//   - No redirect of a service is followed: a request carries credentials and what is stored, and is
//     for the host that the operator named alone.
//   - A URL that is handed out reads one object, for some minutes.
//
// The package is the only one that knows object stores. It may not know what objects
// mean.
package objects

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/scrollback-ai/scrollback"
)

// Place is where objects are kept. Its zero value is memory.
type Place struct {
	Folder  string   // where they are files
	service *url.URL // where they are in a bucket
}

// services are the kinds of bucket there are, by the scheme of their URLs.
var services = map[string]func(ctx context.Context, at *url.URL) (*service, error){"s3": openS3, "gs": openGoogle,
	"azblob": openAzure}

// Parse reads where objects are kept; empty is a folder beside the data in dir. Other URLs
// than those of a bucket, a folder or memory are invalid.
func Parse(dir, at string) (Place, error) {
	if at == "" {
		return Place{Folder: filepath.Join(dir, "objects")}, nil
	}
	u, err := url.Parse(at)
	switch {
	case err != nil:
	case u.Scheme == "memory":
		return Place{}, nil
	case services[u.Scheme] != nil && u.Host != "" && u.User == nil:
		return Place{service: u}, nil
	case u.Scheme == "file" && u.Host == "" && filepath.IsAbs(filepath.FromSlash(u.Path)):
		return Place{Folder: filepath.FromSlash(u.Path)}, nil
	}
	return Place{}, scrollback.ParamErrorf("local.Open", "objects",
		"objects is s3://BUCKET[/PREFIX][?region=…&endpoint=…], gs://BUCKET, azblob://CONTAINER, file:///FOLDER or memory:")
}

// Memory reports whether objects end with the program.
func (p Place) Memory() bool { return p.Folder == "" && p.service == nil }

// Store is an open place. It is safe for concurrent use.
type Store struct {
	Bucket *blob.Bucket

	// Durable makes an object survive a power cut; nil where that is the business of a
	// service, and in memory.
	Durable func(key string) error

	remote *service // nil for a folder and memory
	state  state
}

// service is an open bucket of a service, and what is particular to its kind.
type service struct {
	bucket *blob.Bucket
	prefix string // of all keys, ending in "/"; or empty
	where  string // for logs: without parameters

	// classify says what went wrong; fine for nothing that is particular to the service.
	classify func(err error) fault

	// sign makes a URL that reads a key as a file; nil if it cannot.
	sign func(ctx context.Context, key string, d Download) (string, error)
}

// Open opens a place. A folder is made, unless it may only be read: one that is not there
// is empty then. A service is first reached when an object is, or by [Store.Probe].
func Open(ctx context.Context, p Place, readOnly bool) (*Store, error) {
	const op = "local.Open"
	switch {
	case p.service != nil:
		at := *p.service
		prefix := strings.Trim(at.Path, "/")
		at.Path = ""
		s, err := services[at.Scheme](ctx, &at)
		if scrollback.CodeOf(err) == scrollback.Refused {
			return nil, err
		}
		if err != nil {
			return nil, scrollback.ParamErrorf(op, "objects", "objects: %w", without(&at, err))
		}
		s.where = at.Scheme + "://" + at.Host
		if prefix != "" {
			s.prefix = prefix + "/"
			s.bucket = blob.PrefixedBucket(s.bucket, s.prefix)
		}
		return &Store{Bucket: s.bucket, remote: s}, nil
	case p.Folder == "":
		return &Store{Bucket: memblob.OpenBucket(nil)}, nil
	}
	var err error
	if !readOnly {
		err = os.MkdirAll(p.Folder, 0o700)
	} else if _, err := os.Stat(p.Folder); errors.Is(err, os.ErrNotExist) {
		return &Store{Bucket: memblob.OpenBucket(nil)}, nil
	}
	s := &Store{Durable: func(key string) error { return Sync(p.Folder, key) }}
	if err == nil {
		s.Bucket, err = fileblob.OpenBucket(p.Folder,
			&fileblob.Options{NoTempDir: true, Metadata: fileblob.MetadataDontWrite, DirFileMode: 0o700})
	}
	return s, scrollback.Wrap(scrollback.Unavailable, op, err)
}

// stay has a client take a redirect for the response that it is: see [fault] elsewhere.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// without is an error of a library, which has the whole URL in it, without its parameters:
// somebody may have put there what belongs in no URL.
func without(at *url.URL, err error) error {
	return errors.New(strings.ReplaceAll(err.Error(), at.String(), at.Scheme+"://"+at.Host))
}

// Remote reports whether the objects are in a bucket of a service.
func (s *Store) Remote() bool { return s.remote != nil }

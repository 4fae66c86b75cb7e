// Package objects opens the place where the bytes of artifacts and full copies are kept: a
// bucket of a service, a folder, or memory.
//
// Words it adds: place (where objects are, as a URL says it), service (a place that is
// reached over the network).
//
// Invariants:
//
//   - An error of a service that a person can do something about is said in our words:
//     [Store.ExplainError]. What the service wrote is in the error's Detail, for logs, and holds
//     no key.
//   - A service is never asked to check more than the request itself: those that are not
//     Amazon's refuse the checksums that its client adds by itself.
//   - No redirect of a service is followed: a request carries credentials and what is stored, and is
//     for the host that the operator named alone.
//   - A URL that is handed out reads one object, for some minutes.
//
// The clients of services are in package cloud. It may not know what objects mean.
package objects

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Place is where objects are kept. Its zero value is memory.
type Place struct {
	Folder  string   // where they are files
	service *url.URL // where they are in a bucket
	open    Opener   // of its kind
}

// Opener opens a bucket of a service, whose keys all begin with prefix. It returns refused where
// this program lacks what it takes, and any other error for parameters that cannot be.
type Opener func(ctx context.Context, at *url.URL, prefix string) (*Service, error)

// clouds are the schemes of the buckets there are clients for in package cloud.
var clouds = []string{"s3", "gs", "azblob"}

// ParsePlace reads where objects are kept; empty is a folder beside the data in dir. Other URLs
// than those of a bucket, a folder or memory are invalid. services open buckets by the scheme of
// their URLs; those of package cloud that are not among them are refused.
func ParsePlace(dir, at string, services map[string]Opener) (Place, error) {
	if at == "" {
		return Place{Folder: filepath.Join(dir, "objects")}, nil
	}
	u, err := url.Parse(at)
	switch {
	case err != nil:
	case u.Scheme == "memory":
		return Place{}, nil
	case u.Host != "" && u.User == nil && services[u.Scheme] != nil:
		return Place{service: u, open: services[u.Scheme]}, nil
	case u.Host != "" && u.User == nil && slices.Contains(clouds, u.Scheme):
		return Place{}, scrollback.Errorf(scrollback.Refused, "local.Open",
			i18n.NoClientForObjectStore, u.Scheme)
	case u.Scheme == "file" && u.Host == "" && filepath.IsAbs(filepath.FromSlash(u.Path)):
		return Place{Folder: filepath.FromSlash(u.Path)}, nil
	}
	return Place{}, scrollback.ParamErrorf("local.Open", "objects",
		i18n.ObjectsIsURL)
}

// IsMemory reports whether objects end with the program.
func (p Place) IsMemory() bool { return p.Folder == "" && p.service == nil }

// Store is an open place. It is safe for concurrent use.
type Store struct {
	Bucket blob.Bucket

	// Durable makes an object survive a power cut; nil where that is the business of a
	// service, and in memory.
	Durable func(key string) error

	remote *Service // nil for a folder and memory
	state  state
}

// Service is an open bucket of a service, and what is particular to its kind.
type Service struct {
	Bucket blob.Bucket
	Where  string // for logs: without parameters

	// Classify says what went wrong; NoFault for nothing that is particular to the service.
	Classify func(err error) Fault

	// Operation is what the service was asked for, as its client names it; empty if that is not
	// known. Nil knows none.
	Operation func(err error) string

	// Sign makes a URL that reads a key as a file, or an empty one where that cannot be had; nil
	// if it never can.
	Sign func(ctx context.Context, key string, d Download) (string, error)
}

// requestName returns what a service was asked for when it failed.
func (s *Service) requestName(err error) string {
	if s.Operation == nil {
		return ""
	}
	return s.Operation(err)
}

// Open opens a place. A folder is made, unless it may only be read: one that is not there
// is empty then. A service is first reached when an object is, or by [Store.ProbeStore].
func Open(ctx context.Context, p Place, readOnly bool) (*Store, error) {
	const op = "local.Open"
	switch {
	case p.service != nil:
		at := *p.service
		prefix := strings.Trim(at.Path, "/")
		at.Path = ""
		if prefix != "" {
			prefix += "/"
		}
		s, err := p.open(ctx, &at, prefix)
		if scrollback.CodeOf(err) == scrollback.Refused {
			return nil, err
		}
		if err != nil {
			return nil, scrollback.ParamErrorf(op, "objects", i18n.ObjectsFailed, withoutParams(&at, err))
		}
		s.Where = at.Scheme + "://" + at.Host
		return &Store{Bucket: s.Bucket, remote: s}, nil
	case p.Folder == "":
		return &Store{Bucket: blob.NewMemory()}, nil
	}
	var err error
	if !readOnly {
		err = os.MkdirAll(p.Folder, 0o700)
	} else if _, err := os.Stat(p.Folder); errors.Is(err, os.ErrNotExist) {
		return &Store{Bucket: blob.NewMemory()}, nil
	}
	s := &Store{Durable: func(key string) error { return SyncFile(p.Folder, key) }}
	if err == nil {
		s.Bucket, err = blob.OpenFolder(p.Folder)
	}
	return s, scrollback.Wrap(scrollback.Unavailable, op, err)
}

// withoutParams returns an error of a library, which has the whole URL in it, without its parameters:
// somebody may have put there what belongs in no URL.
func withoutParams(at *url.URL, err error) error {
	return errors.New(strings.ReplaceAll(err.Error(), at.String(), at.Scheme+"://"+at.Host))
}

// IsRemote reports whether the objects are in a bucket of a service.
func (s *Store) IsRemote() bool { return s.remote != nil }

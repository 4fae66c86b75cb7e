// Package cloud opens scrollback as package local does, with what takes the client of a server as
// well: a database in PostgreSQL, and artifacts in a bucket of a service that speaks S3, of Google
// or of Azure.
//
//	sb, err := cloud.Open(ctx, "data", &local.Options{Database: os.Getenv("DATABASE_URL")})
//
// A program that keeps everything in SQLite and files opens it with local.Open, and links none of
// these clients.
//
// Invariants:
//
//   - A service is never asked to check more than the request itself: those that are not
//     Amazon's refuse the checksums that its client adds by itself.
//   - No redirect of a service is followed: a request carries credentials and what is stored, and
//     is for the host that the operator named alone.
//   - A URL that is handed out reads one object, for some minutes.
package cloud

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"

	"gocloud.dev/blob"

	"github.com/scrollback-ai/scrollback/internal/store/driver"
	"github.com/scrollback-ai/scrollback/internal/store/sql/postgres"
	"github.com/scrollback-ai/scrollback/local"
	"github.com/scrollback-ai/scrollback/local/objects"
)

// Open is [local.Open] with the databases and buckets of Services.
func Open(ctx context.Context, dir string, o *local.Options) (*local.Scrollback, error) {
	var with local.Options
	if o != nil {
		with = *o
	}
	with.Services = Services()
	return local.Open(ctx, dir, &with)
}

// Services returns the databases and buckets on servers that there are clients for here.
func Services() local.Services {
	return local.Services{
		Databases: map[string]local.DatabaseOpener{"postgres": openPostgres, "postgresql": openPostgres},
		Buckets:   Buckets(),
	}
}

// Buckets open the buckets of services, by the scheme of their URLs.
func Buckets() map[string]objects.Opener {
	return map[string]objects.Opener{"s3": newOpener(openS3), "gs": newOpener(openGoogle), "azblob": newOpener(openAzure)}
}

// openPostgres opens a database on a PostgreSQL server.
func openPostgres(ctx context.Context, at string, mode local.Mode,
	log *slog.Logger) (db *driver.Driver, readOnly bool, err error) {
	if mode != local.ReadOnly {
		db, err = postgres.Open(ctx, at, &postgres.Options{Log: log})
		if mode != local.Existing || !errors.Is(err, postgres.ErrReadOnly) {
			return db, false, err
		}
	}
	db, err = postgres.OpenReadOnly(ctx, at, &postgres.Options{Log: log})
	return db, true, err
}

// bucketService is a bucket of the portable library, and what is particular to its kind; see
// [objects.Service].
type bucketService struct {
	bucket    *blob.Bucket
	prefix    string // of all keys, ending in "/"; or empty
	classify  func(err error) objects.Fault
	operation func(err error) string
	sign      func(ctx context.Context, key string, d objects.Download) (string, error)
}

// newOpener makes of what opens a whole bucket what opens the keys below a prefix.
func newOpener(open func(ctx context.Context, at *url.URL) (*bucketService, error)) objects.Opener {
	return func(ctx context.Context, at *url.URL, prefix string) (*objects.Service, error) {
		s, err := open(ctx, at)
		if err != nil {
			return nil, err
		}
		if prefix != "" {
			s.prefix = prefix
			s.bucket = blob.PrefixedBucket(s.bucket, prefix)
		}
		out := &objects.Service{Bucket: remoteBucket{s.bucket}, Classify: s.classify, Operation: s.operation}
		if s.sign != nil {
			out.Sign = s.signURL
		}
		return out, nil
	}
}

// refuseRedirect has a client take a redirect for the response that it is; see [objects.WrongRegion].
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

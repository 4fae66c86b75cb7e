package cloud

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"

	"github.com/scrollback-ai/scrollback/local/objects"
)

// openS3 opens a bucket of a service that speaks S3. Keys come from the environment or
// the files of Amazon's clients.
func openS3(ctx context.Context, at *url.URL) (*bucketService, error) {
	q, err := url.ParseQuery(at.RawQuery)
	if err != nil {
		return nil, errors.New("its parameters cannot be read")
	}
	e, err := url.Parse(q.Get("endpoint"))
	if q.Has("endpoint") && (err != nil || e.Host == "" || e.Scheme != "https" && e.Scheme != "http") {
		return nil, errors.New("its endpoint is not https://HOST or http://HOST")
	}
	// Services that are not Amazon's refuse the checksums that its client sends by itself,
	// and send none to hold an answer against. The opener gives both to its client, and the
	// first to the bucket, which uploads by other code.
	for _, name := range []string{"request_checksum_calculation", "response_checksum_validation"} {
		if q.Get(name) == "" {
			q.Set(name, "when_required")
		}
	}
	at.RawQuery = q.Encode()
	opener := &s3blob.URLOpener{}
	bucket, err := opener.OpenBucketURL(ctx, at)
	if err != nil {
		return nil, err
	}
	// The opener's client follows a 307 to any host, with the request that it signed and the object.
	var client *s3.Client
	if !bucket.As(&client) {
		return nil, errors.New("the client of the bucket is not known")
	}
	own := s3.New(client.Options(), func(o *s3.Options) { o.HTTPClient = withoutRedirects(o.HTTPClient) })
	if bucket, err = s3blob.OpenBucket(ctx, own, at.Host, &opener.Options); err != nil {
		return nil, err
	}
	out := &bucketService{bucket: bucket, classify: readS3Fault, operation: s3Operation}
	out.sign = func(ctx context.Context, key string, d objects.Download) (string, error) {
		return out.bucket.SignedURL(ctx, key, &blob.SignedURLOptions{Expiry: d.For,
			BeforeSign: func(as func(any) bool) error {
				var in *s3.GetObjectInput
				if !as(&in) {
					return errors.New("the request to be signed is not known")
				}
				in.ResponseContentType = &d.MediaType
				in.ResponseContentDisposition = &d.Disposition
				in.ResponseCacheControl = &d.Cache
				return nil
			}})
	}
	return out, nil
}

// s3Operation returns what the client calls the request that failed.
func s3Operation(err error) string {
	var asked *smithy.OperationError
	if errors.As(err, &asked) {
		return asked.OperationName
	}
	return ""
}

// withoutRedirects is Amazon's client without following redirects.
func withoutRedirects(c s3.HTTPClient) s3.HTTPClient {
	out := &http.Client{CheckRedirect: refuseRedirect}
	if c, ok := c.(interface{ GetTransport() *http.Transport }); ok {
		out.Transport = c.GetTransport()
	}
	if c, ok := c.(interface{ GetTimeout() time.Duration }); ok {
		out.Timeout = c.GetTimeout()
	}
	return out
}

// readS3Fault reads what a service that speaks S3 refused, by the code that it sent, or else
// the status.
func readS3Fault(err error) objects.Fault {
	var said smithy.APIError
	var got *smithyhttp.ResponseError
	status := 0
	if errors.As(err, &got) {
		status = got.HTTPStatusCode()
	}
	if errors.As(err, &said) {
		if f := codes[said.ErrorCode()]; f != objects.NoFault {
			return f
		}
	}
	// What came is not the XML that S3 sends with an error, or it has no code.
	var garbled *smithy.DeserializationError
	if errors.As(err, &garbled) && status != 0 && status < http.StatusInternalServerError &&
		status != http.StatusForbidden {
		return objects.NotAStore
	}
	// The client has no type for this one.
	if status == 0 && strings.Contains(err.Error(), "get identity: get credentials") {
		return objects.NoKey
	}
	if f := objects.FaultOfNetwork(err); f != objects.NoFault {
		return f
	}
	return statuses[status]
}

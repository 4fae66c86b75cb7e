package objects

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"
	"gocloud.dev/gcerrors"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/listing"
)

// fault is a kind of failure of a service that a person can do something about.
type fault int

const (
	fine        fault = iota // none that is known
	gone                     // there is no such bucket
	forbidden                // the key may not do this
	strange                  // the key is not known, or its secret is wrong
	keyless                  // there is no key
	expired                  // the key has ended
	elsewhere                // the bucket is in another region
	skewed                   // the clocks differ
	foreign                  // what responds is not an object store
	untrusted                // its certificate does not fit
	unencrypted              // one side speaks TLS and the other does not
	unreachable              // nothing responds
	slow                     // too much at once, or out of order for now
	crowded                  // there is no room
)

// codes are those that services send. Google's are reasons of its JSON API.
var codes = map[string]fault{
	"NoSuchBucket": gone, "ContainerNotFound": gone, "ContainerDisabled": gone, "ContainerBeingDeleted": gone,

	"AccessDenied": forbidden, "AllAccessDisabled": forbidden, "AccountProblem": forbidden,
	"AccessControlListNotSupported": forbidden,
	"Forbidden":                     forbidden, "AuthorizationPermissionMismatch": forbidden,
	"AuthorizationFailure":           forbidden,
	"InsufficientAccountPermissions": forbidden, "forbidden": forbidden, "KMS.AccessDeniedException": forbidden,

	"InvalidAccessKeyId": strange, "SignatureDoesNotMatch": strange, "InvalidToken": strange, "InvalidSecurity": strange,
	"UnrecognizedClientException": strange, "InvalidClientTokenId": strange, "NotSignedUp": strange,
	"InvalidAuthenticationInfo": strange,
	"AuthenticationFailed":      strange, "authError": strange, "Unauthorized": strange,
	"NoAuthenticationInformation": strange, "required": strange,
	"ExpiredToken": expired, "TokenRefreshRequired": expired, "ExpiredTokenException": expired,

	"PermanentRedirect": elsewhere, "MovedPermanently": elsewhere, "Redirect": elsewhere, "TemporaryRedirect": elsewhere,
	"AuthorizationHeaderMalformed": elsewhere, "IllegalLocationConstraintException": elsewhere,
	"InvalidRegionName": elsewhere,
	"IncorrectEndpoint": elsewhere,

	"RequestTimeTooSkewed": skewed, "RequestExpired": skewed, "RequestInTheFuture": skewed,

	"MethodNotAllowed": foreign, "NotImplemented": foreign,

	"SlowDown": slow, "SlowDownRead": slow, "SlowDownWrite": slow, "ServiceUnavailable": slow, "Busy": slow,
	"Throttling":          slow,
	"ThrottlingException": slow, "RequestLimitExceeded": slow, "TooManyRequests": slow, "InternalError": slow,
	"RequestTimeout":   slow,
	"OperationAborted": slow, "ServerBusy": slow, "OperationTimedOut": slow, "rateLimitExceeded": slow,
	"backendError":               slow,
	"XMinioServerNotInitialized": slow, "internalError": slow,

	"QuotaExceeded": crowded, "XMinioStorageFull": crowded, "InsufficientStorage": crowded,
	"XMinioAdminBucketQuotaExceeded": crowded,
	"StorageFull":                    crowded, "AccountBeingCreated": slow,
}

// statuses stand in where a service sent no code: HEAD has no body.
var statuses = map[int]fault{http.StatusMovedPermanently: elsewhere, http.StatusTemporaryRedirect: elsewhere,
	http.StatusPermanentRedirect: elsewhere,
	http.StatusFound:             elsewhere, http.StatusSeeOther: elsewhere, http.StatusUnauthorized: strange,
	http.StatusForbidden: forbidden, http.StatusMethodNotAllowed: foreign, http.StatusTooManyRequests: slow,
	http.StatusInternalServerError: slow, http.StatusBadGateway: slow, http.StatusServiceUnavailable: slow,
	http.StatusGatewayTimeout:      slow,
	http.StatusInsufficientStorage: crowded, http.StatusBadRequest: foreign}

// faultOfNetwork reads what happened on the way to a service.
func faultOfNetwork(err error) fault {
	var plain tls.RecordHeaderError
	var bad *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var alert tls.AlertError
	var lost *net.OpError
	var name *net.DNSError
	switch {
	case errors.As(err, &plain), errors.Is(err, http.ErrSchemeMismatch):
		return unencrypted
	case errors.As(err, &bad), errors.As(err, &unknown), errors.As(err, &alert):
		return untrusted
	case errors.As(err, &name), errors.As(err, &lost), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return unreachable
	}
	return fine
}

// Explain says an error of the bucket in words, as unavailable with the reason
// [scrollback.ErrObjects]; errors that it has no words for come back as they are, such as
// that an object is not there.
func (s *Store) Explain(op string, err error) error {
	var known *scrollback.Error
	if err == nil || s.remote == nil || errors.As(err, &known) || gcerrors.Code(err) == gcerrors.Canceled {
		return err
	}
	f := s.remote.classify(err)
	if errors.Is(err, listing.ErrEndless) {
		f = foreign
	}
	if f == fine {
		if f = faultOfNetwork(err); f == fine {
			return err
		}
	}
	return s.said(op, f, err)
}

// said is the sentence of a fault.
func (s *Store) said(op string, f fault, err error) error {
	e := sentence(op, f, err)
	e.Detail = s.remote.where + ": " + brief(err)
	e.Reason = scrollback.ErrObjects
	switch f {
	case gone, elsewhere, foreign, untrusted, unencrypted:
		return e.Advise(scrollback.AdviceCheckAddress, setting)
	case forbidden, strange, keyless, expired:
		return e.Advise(scrollback.AdviceCheckKey, setting)
	}
	return e.Advise(scrollback.AdviceRetry, "")
}

// setting is what says where objects are.
const setting = "SCROLLBACK_OBJECTS"

// sentence says what failed and what to do. The bucket is not named: whoever uses a server
// may read it.
func sentence(op string, f fault, err error) *scrollback.Error {
	const c = scrollback.Unavailable
	switch f {
	case gone:
		return scrollback.Errorf(c, op, "the object store has no such bucket: make it, or correct the setting objects")
	case forbidden:
		return mayNot(op, err)
	case strange:
		return scrollback.Errorf(c, op, "the object store does not accept the key: check the key and its secret")
	case keyless:
		return scrollback.Errorf(c, op,
			"there is no key for the object store that can be used: set the variables of its client, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	case expired:
		return scrollback.Errorf(c, op, "the key of the object store has expired: get another one")
	case elsewhere:
		return scrollback.Errorf(c, op,
			"the bucket is in another region: set region in objects, and endpoint to the address of that region")
	case skewed:
		return scrollback.Errorf(c, op,
			"the clock of this machine and that of the object store differ too much: set this machine's clock")
	case foreign:
		return scrollback.Errorf(c, op,
			"what responds at the endpoint is not an object store of this kind: check endpoint in objects")
	case untrusted:
		return scrollback.Errorf(c, op,
			"the certificate of the object store does not fit its name, or nobody here trusts it: check endpoint in objects, or SSL_CERT_FILE")
	case unencrypted:
		return scrollback.Errorf(c, op,
			"the endpoint of the object store does not speak TLS: check whether it is http:// or https:// in objects")
	case slow:
		return scrollback.Errorf(c, op, "the object store is overloaded or out of order for now; try again later")
	case crowded:
		return scrollback.Errorf(c, op, "the object store has no room left")
	}
	return scrollback.Errorf(c, op, "the object store cannot be reached: try again, or check endpoint in objects")
}

// mayNot says what the key is not allowed to do, as far as that is known.
func mayNot(op string, err error) *scrollback.Error {
	const c = scrollback.Unavailable
	var asked *smithy.OperationError
	name := ""
	if errors.As(err, &asked) {
		name = asked.OperationName
	}
	switch {
	case strings.HasPrefix(name, "Put"), strings.Contains(name, "Upload"):
		return scrollback.Errorf(c, op, "the key of the object store may not write to the bucket (s3:PutObject)")
	case strings.HasPrefix(name, "Get"), strings.HasPrefix(name, "Head"):
		return scrollback.Errorf(c, op,
			"the key of the object store may not read from the bucket (s3:GetObject, and s3:ListBucket for what is missing)")
	case strings.HasPrefix(name, "List"):
		return scrollback.Errorf(c, op, "the key of the object store may not list the bucket (s3:ListBucket)")
	case strings.HasPrefix(name, "Delete"):
		return scrollback.Errorf(c, op, "the key of the object store may not delete from the bucket (s3:DeleteObject)")
	}
	return scrollback.Errorf(c, op, "the key of the object store may not do this with the bucket")
}

// longestDetail bounds what is logged of an error, in bytes.
const longestDetail = 500

// brief is an error for logs. Clients name the address that they called, whose parameters
// may be signed.
func brief(err error) string {
	words := strings.Fields(err.Error())
	for i, w := range words {
		if at := strings.IndexByte(w, '?'); at >= 0 && strings.Contains(w, "://") {
			words[i] = w[:at]
		}
	}
	text := strings.Join(words, " ")
	return strings.ToValidUTF8(text[:min(len(text), longestDetail)], "")
}

// Lasting reports whether an error of [Store.Explain] stays until a person changes
// something: a bucket that does not exist, a key that is not allowed.
func Lasting(err error) bool {
	var known *scrollback.Error
	return errors.As(err, &known) && errors.Is(err, scrollback.ErrObjects) && known.Advice != scrollback.AdviceRetry
}

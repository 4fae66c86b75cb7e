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

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/blob"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// Fault is a kind of failure of a service that a person can do something about.
type Fault int

const (
	NoFault        Fault = iota // none that is known
	NoBucket                    // there is no such bucket
	Forbidden                   // the key may not do this
	UnknownKey                  // the key is not known, or its secret is wrong
	NoKey                       // there is no key
	ExpiredKey                  // the key has ended
	WrongRegion                 // the bucket is in another region
	ClockSkew                   // the clocks differ
	NotAStore                   // what responds is not an object store
	BadCertificate              // its certificate does not fit
	NoTLS                       // one side speaks TLS and the other does not
	Unreachable                 // nothing responds
	Overloaded                  // too much at once, or out of order for now
	NoSpace                     // there is no room
)

// FaultOfNetwork reads what happened on the way to a service.
func FaultOfNetwork(err error) Fault {
	var plain tls.RecordHeaderError
	var bad *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var alert tls.AlertError
	var lost *net.OpError
	var name *net.DNSError
	switch {
	case errors.As(err, &plain), errors.Is(err, http.ErrSchemeMismatch):
		return NoTLS
	case errors.As(err, &bad), errors.As(err, &unknown), errors.As(err, &alert):
		return BadCertificate
	case errors.As(err, &name), errors.As(err, &lost), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return Unreachable
	}
	return NoFault
}

// ExplainError says an error of the bucket in words, as unavailable with the reason
// [scrollback.ErrObjects]; errors that it has no words for come back as they are, such as
// that an object is not there.
func (s *Store) ExplainError(op string, err error) error {
	var known *scrollback.Error
	if err == nil || s.remote == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	f := s.remote.Classify(err)
	if errors.Is(err, blob.ErrEndless) {
		f = NotAStore
	}
	if f == NoFault {
		if f = FaultOfNetwork(err); f == NoFault {
			return err
		}
	}
	return s.faultError(op, f, err)
}

// faultError is the sentence of a fault.
func (s *Store) faultError(op string, f Fault, err error) error {
	e := s.explainFault(op, f, err)
	e.Detail = s.remote.Where + ": " + briefError(err)
	e.Reason = scrollback.ErrObjects
	switch f {
	case NoBucket, WrongRegion, NotAStore, BadCertificate, NoTLS:
		return e.WithAdvice(scrollback.AdviceCheckAddress, setting)
	case Forbidden, UnknownKey, NoKey, ExpiredKey:
		return e.WithAdvice(scrollback.AdviceCheckKey, setting)
	}
	return e.WithAdvice(scrollback.AdviceRetry, "")
}

// setting is what says where objects are.
const setting = "SCROLLBACK_OBJECTS"

// explainFault returns what failed and what to do. The bucket is not named: people who use a server
// may read it.
func (s *Store) explainFault(op string, f Fault, err error) *scrollback.Error {
	const c = scrollback.Unavailable
	switch f {
	case NoBucket:
		return scrollback.Errorf(c, op, i18n.NoSuchBucket)
	case Forbidden:
		return mayNot(op, s.remote.requestName(err))
	case UnknownKey:
		return scrollback.Errorf(c, op, i18n.ObjectStoreRefusesKey)
	case NoKey:
		return scrollback.Errorf(c, op,
			i18n.NoKeyForObjectStore)
	case ExpiredKey:
		return scrollback.Errorf(c, op, i18n.ObjectStoreKeyExpired)
	case WrongRegion:
		return scrollback.Errorf(c, op,
			i18n.BucketInAnotherRegion)
	case ClockSkew:
		return scrollback.Errorf(c, op,
			i18n.ObjectStoreClockDiffers)
	case NotAStore:
		return scrollback.Errorf(c, op,
			i18n.EndpointIsNoObjectStore)
	case BadCertificate:
		return scrollback.Errorf(c, op,
			i18n.ObjectStoreCertificateDoesNotFit)
	case NoTLS:
		return scrollback.Errorf(c, op,
			i18n.ObjectStoreSpeaksNoTLS)
	case Overloaded:
		return scrollback.Errorf(c, op, i18n.ObjectStoreOverloaded)
	case NoSpace:
		return scrollback.Errorf(c, op, i18n.ObjectStoreFull)
	}
	return scrollback.Errorf(c, op, i18n.ObjectStoreUnreachable)
}

// mayNot returns what the key is not allowed to do, as far as that is known.
func mayNot(op, name string) *scrollback.Error {
	const c = scrollback.Unavailable
	switch {
	case strings.HasPrefix(name, "Put"), strings.Contains(name, "Upload"):
		return scrollback.Errorf(c, op, i18n.ObjectStoreKeyMayNotWrite)
	case strings.HasPrefix(name, "Get"), strings.HasPrefix(name, "Head"):
		return scrollback.Errorf(c, op,
			i18n.ObjectStoreKeyMayNotRead)
	case strings.HasPrefix(name, "List"):
		return scrollback.Errorf(c, op, i18n.ObjectStoreKeyMayNotList)
	case strings.HasPrefix(name, "Delete"):
		return scrollback.Errorf(c, op, i18n.ObjectStoreKeyMayNotDelete)
	}
	return scrollback.Errorf(c, op, i18n.ObjectStoreKeyMayNotDoThis)
}

// longestDetail bounds what is logged of an error, in bytes.
const longestDetail = 500

// briefError returns an error for logs. Clients name the address that they called, whose parameters
// may be signed.
func briefError(err error) string {
	words := strings.Fields(err.Error())
	for i, w := range words {
		if at := strings.IndexByte(w, '?'); at >= 0 && strings.Contains(w, "://") {
			words[i] = w[:at]
		}
	}
	text := strings.Join(words, " ")
	return strings.ToValidUTF8(text[:min(len(text), longestDetail)], "")
}

// IsLasting reports whether an error of [Store.ExplainError] stays until a person changes
// something: a bucket that does not exist, a key that is not allowed.
func IsLasting(err error) bool {
	var known *scrollback.Error
	return errors.As(err, &known) && errors.Is(err, scrollback.ErrObjects) && known.Advice != scrollback.AdviceRetry
}

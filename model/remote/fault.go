package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/scrollback-ai/scrollback"
)

// Faults on the way to a server, and of the server itself.
var (
	errSilence   = errors.New("it fell silent")
	errUnbegun   = errors.New("it did not begin its answer in time")
	errEmpty     = errors.New("it ended its response before it began")
	errElsewhere = errors.New("it redirects to another server, to which nothing is sent")
	errCircles   = errors.New("it redirects in circles")
	errBodiless  = errors.New("it redirects without the request's body")
)

// maxRedirects bounds how often one request is sent on.
const maxRedirects = 3

// sameServer follows a redirect only to where the key and the conversation were meant
// to go: the same scheme, host and port.
func sameServer(req *http.Request, via []*http.Request) error {
	if urlOrigin(req.URL) != urlOrigin(via[0].URL) {
		return errElsewhere
	}
	if req.Method != via[0].Method {
		return errBodiless
	}
	if len(via) > maxRedirects {
		return errCircles
	}
	return nil
}

func urlOrigin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	return strings.ToLower(u.Scheme) + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// classifyFault classifies what went wrong on the way. An error that already has a code keeps it.
func (c *Client) classifyFault(parent, ctx context.Context, err error) error {
	var known *scrollback.Error
	switch cause := context.Cause(ctx); {
	case parent.Err() != nil:
		return checkContext(parent)
	case errors.Is(cause, scrollback.ErrReplyBound):
		return cause
	case errors.Is(cause, errSilence):
		return &retryable{error: c.newUpstreamError(errSilence.Error(), "")}
	case errors.Is(cause, errUnbegun):
		return c.newUpstreamError(errUnbegun.Error(), "")
	case errors.As(err, &known):
		return err
	}
	if words := certificateError(err); words != "" {
		return c.newUpstreamError("its certificate cannot be trusted: "+words+c.nameSetting(c.o.BaseVariable),
			err.Error()).WithAdvice(scrollback.AdviceCheckAddress, c.o.BaseVariable)
	}
	for _, own := range []error{errElsewhere, errCircles, errBodiless} {
		if errors.Is(err, own) {
			return c.newUpstreamError(own.Error()+c.nameSetting(c.o.BaseVariable), "").WithAdvice(scrollback.AdviceCheckAddress,
				c.o.BaseVariable)
		}
	}
	words := c.explainPath(err)
	failed := c.newUpstreamError(words, err.Error())
	if see := c.nameSetting(c.o.BaseVariable); see != "" && strings.HasSuffix(words, see) {
		failed = failed.WithAdvice(scrollback.AdviceCheckAddress, c.o.BaseVariable)
	}
	return &retryable{error: failed}
}

// certificateError returns what is wrong with a server's certificate, or nothing.
func certificateError(err error) string {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &host):
		return "it belongs to another host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "it has expired, or is not valid yet"
	case errors.As(err, &authority):
		return "it is signed by nobody known"
	case errors.As(err, &invalid), errors.As(err, &verify):
		return "it is not valid"
	}
	return ""
}

// explainPath says in our own words what failed on the way to the server.
func (c *Client) explainPath(err error) string {
	var (
		dns  *net.DNSError
		late net.Error
	)
	switch {
	case errors.Is(err, errEmpty):
		return errEmpty.Error()
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens at its address; is it running?" + c.nameSetting(c.o.BaseVariable)
	case errors.As(err, &dns):
		return "the host in its address is unknown" + c.nameSetting(c.o.BaseVariable)
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "it speaks plain http, and its address says https" + c.nameSetting(c.o.BaseVariable)
	case strings.Contains(err.Error(), "tls: "): // there is no type for it
		return "no common version of TLS was found" + c.nameSetting(c.o.BaseVariable)
	case errors.As(err, &late) && late.Timeout():
		return "it took too long"
	}
	return "the connection to it failed"
}

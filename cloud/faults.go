package cloud

import (
	"net/http"

	"github.com/scrollback-ai/scrollback/local/objects"
)

// codes are those that services send. Google's are reasons of its JSON API.
var codes = map[string]objects.Fault{
	"NoSuchBucket":          objects.NoBucket,
	"ContainerNotFound":     objects.NoBucket,
	"ContainerDisabled":     objects.NoBucket,
	"ContainerBeingDeleted": objects.NoBucket,

	"AccessDenied":                    objects.Forbidden,
	"AllAccessDisabled":               objects.Forbidden,
	"AccountProblem":                  objects.Forbidden,
	"AccessControlListNotSupported":   objects.Forbidden,
	"Forbidden":                       objects.Forbidden,
	"AuthorizationPermissionMismatch": objects.Forbidden,
	"AuthorizationFailure":            objects.Forbidden,
	"InsufficientAccountPermissions":  objects.Forbidden,
	"forbidden":                       objects.Forbidden,
	"KMS.AccessDeniedException":       objects.Forbidden,

	"InvalidAccessKeyId":          objects.UnknownKey,
	"SignatureDoesNotMatch":       objects.UnknownKey,
	"InvalidToken":                objects.UnknownKey,
	"InvalidSecurity":             objects.UnknownKey,
	"UnrecognizedClientException": objects.UnknownKey,
	"InvalidClientTokenId":        objects.UnknownKey,
	"NotSignedUp":                 objects.UnknownKey,
	"InvalidAuthenticationInfo":   objects.UnknownKey,
	"AuthenticationFailed":        objects.UnknownKey,
	"authError":                   objects.UnknownKey,
	"Unauthorized":                objects.UnknownKey,
	"NoAuthenticationInformation": objects.UnknownKey,
	"required":                    objects.UnknownKey,

	"ExpiredToken":          objects.ExpiredKey,
	"TokenRefreshRequired":  objects.ExpiredKey,
	"ExpiredTokenException": objects.ExpiredKey,

	"PermanentRedirect":                  objects.WrongRegion,
	"MovedPermanently":                   objects.WrongRegion,
	"Redirect":                           objects.WrongRegion,
	"TemporaryRedirect":                  objects.WrongRegion,
	"AuthorizationHeaderMalformed":       objects.WrongRegion,
	"IllegalLocationConstraintException": objects.WrongRegion,
	"InvalidRegionName":                  objects.WrongRegion,
	"IncorrectEndpoint":                  objects.WrongRegion,

	"RequestTimeTooSkewed": objects.ClockSkew,
	"RequestExpired":       objects.ClockSkew,
	"RequestInTheFuture":   objects.ClockSkew,

	"MethodNotAllowed": objects.NotAStore,
	"NotImplemented":   objects.NotAStore,

	"SlowDown":                   objects.Overloaded,
	"SlowDownRead":               objects.Overloaded,
	"SlowDownWrite":              objects.Overloaded,
	"ServiceUnavailable":         objects.Overloaded,
	"Busy":                       objects.Overloaded,
	"Throttling":                 objects.Overloaded,
	"ThrottlingException":        objects.Overloaded,
	"RequestLimitExceeded":       objects.Overloaded,
	"TooManyRequests":            objects.Overloaded,
	"InternalError":              objects.Overloaded,
	"RequestTimeout":             objects.Overloaded,
	"OperationAborted":           objects.Overloaded,
	"ServerBusy":                 objects.Overloaded,
	"OperationTimedOut":          objects.Overloaded,
	"rateLimitExceeded":          objects.Overloaded,
	"backendError":               objects.Overloaded,
	"XMinioServerNotInitialized": objects.Overloaded,
	"internalError":              objects.Overloaded,
	"AccountBeingCreated":        objects.Overloaded,

	"QuotaExceeded":                  objects.NoSpace,
	"XMinioStorageFull":              objects.NoSpace,
	"InsufficientStorage":            objects.NoSpace,
	"XMinioAdminBucketQuotaExceeded": objects.NoSpace,
	"StorageFull":                    objects.NoSpace,
}

// statuses stand in where a service sent no code: HEAD has no body.
var statuses = map[int]objects.Fault{
	http.StatusMovedPermanently:    objects.WrongRegion,
	http.StatusTemporaryRedirect:   objects.WrongRegion,
	http.StatusPermanentRedirect:   objects.WrongRegion,
	http.StatusFound:               objects.WrongRegion,
	http.StatusSeeOther:            objects.WrongRegion,
	http.StatusUnauthorized:        objects.UnknownKey,
	http.StatusForbidden:           objects.Forbidden,
	http.StatusMethodNotAllowed:    objects.NotAStore,
	http.StatusTooManyRequests:     objects.Overloaded,
	http.StatusInternalServerError: objects.Overloaded,
	http.StatusBadGateway:          objects.Overloaded,
	http.StatusServiceUnavailable:  objects.Overloaded,
	http.StatusGatewayTimeout:      objects.Overloaded,
	http.StatusInsufficientStorage: objects.NoSpace,
	http.StatusBadRequest:          objects.NotAStore,
}

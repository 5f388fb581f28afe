package fault

import (
	"context"
	"net/http"
)

// These rules read the status of any error with a method HTTPStatusCode() int,
// such as [*HTTPError] and the response errors of the AWS SDK.
var (
	httpRateRules = Table{
		{ID: "http.429", Reason: ReasonRateLimited, Class: ClassRetryable, Match: status(http.StatusTooManyRequests)},
	}
	httpServerRules = Table{
		{ID: "http.408", Reason: ReasonTimeout, Class: ClassRetryable, Match: status(http.StatusRequestTimeout)},
		{ID: "http.425", Reason: ReasonUnavailable, Class: ClassRetryable, Match: status(http.StatusTooEarly)},
		{ID: "http.409", Reason: ReasonConflict, Class: ClassRetryable, Match: status(http.StatusConflict)},
		{ID: "http.423", Reason: ReasonConflict, Class: ClassRetryable, Match: status(http.StatusLocked)},
		{ID: "http.5xx", Reason: ReasonUnavailable, Class: ClassRetryable, Match: serverFailed},
	}
	httpRightsRules = Table{
		{ID: "http.401", Reason: ReasonEnvironment, Class: ClassRetryable, Match: status(http.StatusUnauthorized)},
		{ID: "http.403", Reason: ReasonEnvironment, Class: ClassRetryable, Match: status(http.StatusForbidden)},
		{ID: "http.redirect", Reason: ReasonEnvironment, Class: ClassRetryable, Match: statusWhere(redirected)},
	}
	httpMissingRules = Table{
		{ID: "http.404", Reason: ReasonNotFound, Class: ClassPermanent, Match: status(http.StatusNotFound)},
		{ID: "http.410", Reason: ReasonNotFound, Class: ClassPermanent, Match: status(http.StatusGone)},
	}
	httpRefusedRules = Table{
		{ID: "http.4xx", Reason: ReasonRejected, Class: ClassPermanent, Match: clientRefused},
		{ID: "http.501", Reason: ReasonRejected, Class: ClassPermanent, Match: status(http.StatusNotImplemented)},
		{ID: "http.505", Reason: ReasonRejected, Class: ClassPermanent,
			Match: status(http.StatusHTTPVersionNotSupported)},
	}
)

func status(code int) func(context.Context, error) bool {
	return statusWhere(func(c int) bool { return c == code })
}

var (
	clientRefused = statusWhere(func(c int) bool { return 400 <= c && c <= 499 })
	// serverFailed excludes the statuses with which a server says that it
	// cannot do this at all.
	serverFailed = statusWhere(func(c int) bool {
		return 500 <= c && c <= 599 && c != http.StatusNotImplemented && c != http.StatusHTTPVersionNotSupported
	})
)

func statusWhere(accept func(int) bool) func(context.Context, error) bool {
	return func(_ context.Context, err error) bool {
		return has(err, func(e interface{ HTTPStatusCode() int }) bool { return accept(e.HTTPStatusCode()) })
	}
}

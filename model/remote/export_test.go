package remote

import "errors"

// Classify returns the error of a problem.
func (c *Client) Classify(p Problem, x Exchange) error { return c.problemError(p, x) }

// Again reports whether a request that failed so is sent again by itself.
func Again(err error) bool { return errors.As(err, new(*retryable)) }

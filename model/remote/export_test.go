package remote

// Classify is the error of a problem.
func (c *Client) Classify(p Problem, x Exchange) error { return c.problem(p, x) }

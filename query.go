package scrollback

// ListQuery pages through conversations, newest change first. Cursors are opaque.
type ListQuery struct {
	Project, Title string
	Projects       []string // only of these; nil for no such bound
	Trash          bool
	Cursor         string
	Limit          int // 0 means 50, at most 200
}

// PageQuery pages through a path by seq: those After (0 for the first), or the
// newest Before, or with neither the newest of all. Messages come ascending.
type PageQuery struct {
	Branch BranchID // empty: the current one
	After  *int64
	Before int64
	Limit  int // 0 means 50, at most 200
}

// RefQuery pages through the refs of a conversation, newest first.
type RefQuery struct {
	Kind   string // empty: all
	Cursor string
	Limit  int // 0 means 50, at most 200
}

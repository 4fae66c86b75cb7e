package scrollback

import (
	"fmt"
	"slices"
)

// KeyID identifies a key for ever; it is not a secret.
type KeyID string

// Key gives access to somebody who is not the operator: a role, in all projects or in
// some. Its secret is shown once, when it is made, and is not part of it. Times are Unix ms.
type Key struct {
	ID         KeyID    `json:"id"`
	Name       string   `json:"name"`
	Role       Access   `json:"role"`
	Projects   []string `json:"projects"`       // in the order they were given; empty for all projects
	Door       string   `json:"door,omitempty"` // how its clients of other APIs are answered; empty leaves it to the project
	CreatedAt  int64    `json:"created_at"`
	ExpiresAt  int64    `json:"expires_at,omitempty"`   // 0: never
	RevokedAt  int64    `json:"revoked_at,omitempty"`   // 0: not revoked
	LastUsedAt int64    `json:"last_used_at,omitempty"` // to the minute; 0: never
}

// Caller returns the caller that uses the key.
func (k Key) Caller() Caller {
	return Caller{Name: k.Name, Key: k.ID, Access: k.Role, AllProjects: len(k.Projects) == 0,
		Projects: slices.Clone(k.Projects), Door: k.Door}
}

// HasEnded reports whether the key was revoked or has expired.
func (k Key) HasEnded(now int64) bool {
	return k.RevokedAt > 0 || k.ExpiresAt > 0 && k.ExpiresAt <= now
}

// MarshalText implements encoding.TextMarshaler.
func (a Access) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler: read, write or admin.
func (a *Access) UnmarshalText(text []byte) error {
	for _, level := range []Access{AccessRead, AccessWrite, AccessAdmin} {
		if string(text) == level.String() {
			*a = level
			return nil
		}
	}
	return fmt.Errorf("%q is not a role: read, write or admin", text)
}

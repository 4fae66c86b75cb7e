package restapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/backups"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/internal/server/access"
)

// Backups are those of the whole store that a server keeps in one place. Where none is set up, each method returns not
// found; while one is being made or read, making and reading another is a conflict.
type Backups interface {
	// ListBackups returns where they are kept, and which there are.
	ListBackups(ctx context.Context) (backups.BackupStanding, error)
	// CreateBackup makes one now, and goes on when ctx ends.
	CreateBackup(ctx context.Context) (backups.MadeBackup, error)
	// VerifyBackup reads one to its end. One that is not there is not found, a damaged one invalid.
	VerifyBackup(ctx context.Context, name string) (backups.BackupContents, error)
}

// BackupPath is the backup in a path.
type BackupPath struct {
	Backup string `path:"backup" doc:"Name of the backup, as in the list."`
}

// addBackups adds the backups of the store, for admins of all projects: they hold what is in all of them.
func (a *api) addBackups() {
	huma.Register(a.huma, huma.Operation{OperationID: "list-backups", Method: http.MethodGet, Path: "/api/backups",
		Summary: "List the backups of the store"},
		func(ctx context.Context, _ *struct{}) (*body[backups.BackupStanding], error) {
			if err := a.checkBackups(ctx); err != nil {
				return wrapBody(backups.BackupStanding{}, err)
			}
			return wrapBody(a.backups.ListBackups(ctx))
		})
	huma.Register(a.huma, huma.Operation{OperationID: "create-backup", Method: http.MethodPost, Path: "/api/backups",
		Summary: "Make a backup of the store"},
		func(ctx context.Context, _ *struct{}) (*body[backups.MadeBackup], error) {
			if err := a.checkBackups(ctx); err != nil {
				return wrapBody(backups.MadeBackup{}, err)
			}
			return wrapBody(a.backups.CreateBackup(ctx))
		})
	huma.Register(a.huma, huma.Operation{OperationID: "verify-backup", Method: http.MethodPost,
		Path: "/api/backups/{backup}/verify", Summary: "Verify a backup"},
		func(ctx context.Context, in *BackupPath) (*body[backups.BackupContents], error) {
			if err := a.checkBackups(ctx); err != nil {
				return wrapBody(backups.BackupContents{}, err)
			}
			return wrapBody(a.backups.VerifyBackup(ctx, in.Backup))
		})
}

// checkBackups returns why the sender of a context's request has nothing to do with backups.
func (a *api) checkBackups(ctx context.Context) error {
	if _, err := a.viewFor(ctx).Admin(); err != nil {
		return err
	}
	if a.backups == nil {
		return scrollback.Errorf(scrollback.NotFound, "restapi", i18n.BackupsAreNotSetUp)
	}
	return nil
}

// offerBackups says of a caller whether it has to do with backups.
func (a *api) offerBackups(who access.Who) access.Who {
	who.Backups = a.backups != nil && who.Role == scrollback.AccessAdmin && len(who.Projects) == 0
	return who
}

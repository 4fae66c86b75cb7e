//go:build !allclouds

package cloud

import (
	"context"
	"net/url"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
)

// openGoogle and openAzure say how to get a program that has the clients of these
// services: compiled in, they would make every first start longer.
func openGoogle(context.Context, *url.URL) (*bucketService, error) {
	return nil, newLeanError("Google's (gs://)")
}
func openAzure(context.Context, *url.URL) (*bucketService, error) {
	return nil, newLeanError("Azure's (azblob://)")
}

func newLeanError(whose string) error {
	return scrollback.Errorf(scrollback.Refused, "local.Open",
		i18n.BuiltWithoutObjectStores,
		whose)
}

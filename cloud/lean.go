//go:build !allclouds

package cloud

import (
	"context"
	"net/url"

	"github.com/scrollback-ai/scrollback"
)

// openGoogle and openAzure say how to get a program that has the clients of these
// services: compiled in, they would make every first start longer.
func openGoogle(context.Context, *url.URL) (*service, error) { return nil, lean("Google's (gs://)") }
func openAzure(context.Context, *url.URL) (*service, error)  { return nil, lean("Azure's (azblob://)") }

func lean(whose string) error {
	return scrollback.Errorf(scrollback.Refused, "local.Open",
		"this program was built without %s object stores: build it with go build -tags allclouds ./cmd/scrollback, or use s3://",
		whose)
}

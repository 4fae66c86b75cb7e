package cloud_test

import (
	"context"
	"fmt"
	"log"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/cloud"
	"github.com/scrollback-ai/scrollback/local"
)

// Programs on several machines share a database and a bucket.
func ExampleOpen() {
	ctx := context.Background()
	sb, err := cloud.Open(ctx, "data", &local.Options{
		Database: "postgres://scrollback@db.example.org/history",
		Objects:  "s3://history/team?region=eu-central-1",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer sb.Close()
	list, _, err := sb.List(ctx, scrollback.ListQuery{})
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Println(len(list), "conversations")
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// patience is how long a line may take.
const patience = 90 * time.Second

// waitFound waits until a search finds a word.
func waitFound(ctx context.Context, url, word string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/search?q="+word, nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(q)
		if err != nil {
			return err
		}
		var r struct{ Hits []struct{ Seq int } }
		err = json.NewDecoder(resp.Body).Decode(&r)
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			return err
		}
		if len(r.Hits) > 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

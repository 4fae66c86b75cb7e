package scrollback_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"strings"
	"testing"

	"github.com/scrollback-ai/scrollback"
)

// codes lists the constants of type Code as the source has them.
func codes(t *testing.T) []scrollback.Code {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []scrollback.Code
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if id, ok := v.Type.(*ast.Ident); ok && id.Name == "Code" {
				out = append(out, scrollback.Code(strings.Trim(v.Values[0].(*ast.BasicLit).Value, `"`)))
			}
		}
		return true
	})
	if len(out) < 9 {
		t.Fatalf("found only %v", out)
	}
	return out
}

// The exit codes of the contract.
func TestExitCodes(t *testing.T) {
	want := map[scrollback.Code]int{
		"invalid": 2, "refused": 1, "not_found": 3, "conflict": 4, "over_budget": 5, "rate_limited": 6, "canceled": 130,
		"internal":    1,
		"unavailable": 6,
	}
	for _, c := range codes(t) {
		around := fmt.Errorf("around: %w", scrollback.Errorf(c, "op", "text").WithReason(scrollback.ErrTooLarge))
		if got := scrollback.ExitCodeOf(around); got != want[c] || got == 0 {
			t.Errorf("%s exits with %d, want %d", c, got, want[c])
		}
	}
	if got := scrollback.ExitCodeOf(io.EOF); got != want["internal"] {
		t.Errorf("an unknown error exits with %d", got)
	}
	if got := scrollback.ExitCodeOf(nil); got != 0 {
		t.Errorf("no error exits with %d", got)
	}
}

// What a caller sees never holds the text of an internal fault.
func TestShown(t *testing.T) {
	const secret = "SELECT key FROM /home/me sk-123"
	leak := errors.New(secret)
	for _, err := range []error{
		leak, nil, scrollback.Errorf(scrollback.Internal, secret, "%w", leak),
		scrollback.Errorf(scrollback.Unavailable, "op", "%w", leak),
		scrollback.Errorf(scrollback.Unavailable, "op", "%w: %w", scrollback.ErrUpstream, leak),
		&scrollback.Error{Code: scrollback.Internal, Op: secret},
		&scrollback.Error{Code: scrollback.NotFound, Op: secret}, scrollback.Wrap(scrollback.Internal, "op", leak),
		scrollback.Wrap(scrollback.Unavailable, "op", leak),
		fmt.Errorf("%s: %w", secret, context.Canceled), fmt.Errorf("%s: %w", secret,
			scrollback.Errorf(scrollback.NotFound, secret, "no conversation")),
	} {
		if got := scrollback.PublicMessage(err); got == "" || strings.Contains(got, "SELECT") ||
			strings.Contains(got, "/home") ||
			strings.Contains(got, "sk-") {
			t.Errorf("%v is shown as %q", err, got)
		}
	}
	for _, why := range []error{scrollback.ErrUpstream, scrollback.ErrReplyBound,
		errors.Join(leak, scrollback.ErrUpstream)} {
		err := scrollback.Errorf(scrollback.Unavailable, "op", "words of ours").WithReason(why)
		err.Detail = secret
		if got := scrollback.PublicMessage(fmt.Errorf("%s: %w", secret, err)); got != "words of ours" {
			t.Errorf("%v is shown as %q", err, got)
		}
	}
	for _, c := range codes(t) {
		err := scrollback.Errorf(c, "store.Secret", "the reason")
		hidden := c == scrollback.Internal || c == scrollback.Unavailable
		if got := scrollback.PublicMessage(err); (got == "the reason") == hidden || strings.Contains(got, "store.Secret") {
			t.Errorf("%s is shown as %q", c, got)
		}
	}
}

func TestWrap(t *testing.T) {
	if scrollback.Wrap(scrollback.Internal, "op", nil) != nil {
		t.Error("nil was wrapped")
	}
	known := scrollback.Errorf(scrollback.NotFound, "a", "x")
	around := fmt.Errorf("around: %w", known)
	if got := scrollback.Wrap(scrollback.Internal, "b", around); got != around ||
		scrollback.CodeOf(got) != scrollback.NotFound {
		t.Errorf("a known error became %v", got)
	}
	for err, want := range map[error]scrollback.Code{
		nil: "", io.EOF: scrollback.Internal, context.Canceled: scrollback.Canceled,
		context.DeadlineExceeded:                                                    scrollback.Internal,
		scrollback.Wrap(scrollback.Unavailable, "op", io.EOF):                       scrollback.Unavailable,
		scrollback.Wrap(scrollback.Unavailable, "op", context.Canceled):             scrollback.Canceled,
		scrollback.Errorf(scrollback.Conflict, "op", "%w", scrollback.ErrLostLease): scrollback.Conflict,
	} {
		if got := scrollback.CodeOf(err); got != want {
			t.Errorf("%v has code %q, want %q", err, got, want)
		}
	}
	if err := scrollback.Wrap(scrollback.Unavailable, "op", io.EOF); !errors.Is(err, io.EOF) || err.Error() != "op: EOF" {
		t.Errorf("wrapped as %v", err)
	}
	if err := scrollback.ParamErrorf("op", "limit", "too %s", "small"); err.Code != scrollback.Invalid ||
		err.Param != "limit" ||
		err.Error() != "op: too small" {
		t.Errorf("%+v", err)
	}
}

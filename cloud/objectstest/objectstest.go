// Package objectstest has object stores for tests: one in the process that takes
// everything, and a strict one that is a program of its own.
//
// Words it adds: service (a store that speaks S3, with a bucket in it).
//
// Invariants: everything is on loopback, in temporary folders, and ends with its test.
package objectstest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Bucket is the name of the bucket of every service.
const Bucket = "history"

// Service is a store that speaks S3.
type Service struct {
	Endpoint string // http://127.0.0.1:PORT

	root  Key
	admin func(args ...string) error // of a strict service
}

// Key is what somebody signs requests with.
type Key struct{ ID, Secret string }

// URL returns a place of objects there, as the setting objects has it; prefix may be empty.
func (s *Service) URL(prefix string) string { return PlaceURL(s.Endpoint, prefix) }

// PlaceURL returns a place of objects at an endpoint.
func PlaceURL(endpoint, prefix string) string {
	return "s3://" + Bucket + "/" + prefix + "?region=us-east-1&use_path_style=true&endpoint=" + endpoint
}

// UseKey gives a key to the clients of this process, in its environment, until the test ends;
// the zero key takes every key away.
func UseKey(t testing.TB, k Key) {
	t.Helper()
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": k.ID, "AWS_SECRET_ACCESS_KEY": k.Secret,
		"AWS_CONFIG_FILE":             "none",
		"AWS_SHARED_CREDENTIALS_FILE": "none", "AWS_EC2_METADATA_DISABLED": "true", "AWS_PROFILE": "",
		"AWS_SESSION_TOKEN": ""} {
		t.Setenv(name, value)
	}
}

// StartLenient returns a service in this process: it checks neither keys nor signatures. The
// environment gets a key.
func StartLenient(t testing.TB) *Service {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(served.Close)
	s := &Service{Endpoint: served.URL, root: Key{"key", "secret"}}
	UseKey(t, s.root)
	return s
}

// startTime bounds how long a strict service takes to begin.
const startTime = 30 * time.Second

// StartStrict returns a service that holds requests against their signatures and keys against what
// they may do: versitygw. The environment gets the key of its owner. Where the program is
// missing the test is skipped, unless SCROLLBACK_REQUIRE_SERVICES is set.
func StartStrict(t testing.TB) *Service {
	t.Helper()
	program, err := exec.LookPath("versitygw")
	if err != nil {
		missing := "versitygw is missing: go install github.com/versity/versitygw/cmd/versitygw@v1.8.0, and add $(go env GOPATH)/bin to PATH"
		if os.Getenv("SCROLLBACK_REQUIRE_SERVICES") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	dir := t.TempDir()
	for _, name := range []string{"objects", "accounts"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := &Service{root: Key{"owner", "secret-of-owner"}}
	s.startProgram(t, program, dir)
	s.admin = func(args ...string) error {
		out, err := exec.Command(program, append([]string{"admin", "--access", s.root.ID, "--secret", s.root.Secret,
			"--endpoint-url", s.Endpoint},
			args...)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	}
	if _, err := s.newClient().CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(Bucket)}); err != nil {
		t.Fatal(err)
	}
	UseKey(t, s.root)
	return s
}

// startProgram runs the program on a free port until the test ends. Another program may take the
// port in between: then it is another one.
func (s *Service) startProgram(t testing.TB, program, dir string) {
	t.Helper()
	for range 5 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		at := l.Addr().String()
		_ = l.Close()
		said, err := os.Create(filepath.Join(dir, "log"))
		if err != nil {
			t.Fatal(err)
		}
		run := exec.Command(program, "--port", at, "--access", s.root.ID, "--secret", s.root.Secret, "--iam-dir",
			filepath.Join(dir, "accounts"),
			"--quiet", "posix", filepath.Join(dir, "objects"))
		run.Stdout = said
		run.Stderr = said
		if err := run.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { _ = run.Wait(); said.Close(); close(ended) }()
		s.Endpoint = "http://" + at
		if s.waitReady(t.Context(), ended) {
			t.Cleanup(func() { _ = run.Process.Kill(); <-ended })
			return
		}
		_ = run.Process.Kill()
		<-ended
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	t.Fatalf("versitygw does not start: %s %v", log, err)
}

// waitReady waits until the service responds, and reports whether it does.
func (s *Service) waitReady(ctx context.Context, ended chan struct{}) bool {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := s.newClient().ListBuckets(ctx, nil); err == nil {
			return true
		}
		select {
		case <-ended:
			return false
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}

func (s *Service) newClient() *s3.Client {
	return s3.New(s3.Options{Region: "us-east-1", BaseEndpoint: aws.String(s.Endpoint), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(s.root.ID, s.root.Secret, "")})
}

// AddKey makes a key of a strict service that may do some actions with the bucket, such
// as s3:GetObject.
func (s *Service) AddKey(t testing.TB, name string, actions ...string) Key {
	t.Helper()
	k := Key{name, "secret-of-" + name}
	if s.admin == nil {
		t.Fatal(errors.New("a lenient service has no accounts"))
	}
	if err := s.admin("create-user", "--access", k.ID, "--secret", k.Secret, "--role", "user"); err != nil {
		t.Fatal(err)
	}
	if len(actions) == 0 {
		return k
	}
	list := ""
	for i, a := range actions {
		if i > 0 {
			list += ","
		}
		list += fmt.Sprintf("%q", a)
	}
	policy := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":[%q]},"Action":[%s],`+
		`"Resource":["arn:aws:s3:::%s","arn:aws:s3:::%s/*"]}]}`, k.ID, list, Bucket, Bucket)
	_, err := s.newClient().PutBucketPolicy(t.Context(),
		&s3.PutBucketPolicyInput{Bucket: aws.String(Bucket), Policy: aws.String(policy)})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// ListKeys lists the bucket, ascending.
func (s *Service) ListKeys(t testing.TB) (keys []string) {
	t.Helper()
	pages := s3.NewListObjectsV2Paginator(s.newClient(), &s3.ListObjectsV2Input{Bucket: aws.String(Bucket)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Contents {
			keys = append(keys, *o.Key)
		}
	}
	return keys
}

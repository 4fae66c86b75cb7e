//go:build allclouds

package cloud

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"
	"gocloud.dev/blob/gcsblob"
	"gocloud.dev/gcp"
	"google.golang.org/api/googleapi"

	"github.com/scrollback-ai/scrollback/local/objects"
)

// openGoogle opens a bucket of Google Cloud Storage. Keys are the application's default
// credentials; those of a service account can sign.
func openGoogle(ctx context.Context, at *url.URL) (*bucketService, error) {
	opener := &gcsblob.URLOpener{}
	q := at.Query()
	switch {
	case os.Getenv("STORAGE_EMULATOR_HOST") != "", q.Get("anonymous") == "true", q.Get("access_id") == "-":
		opener.Client = gcp.NewAnonymousHTTPClient(gcp.DefaultTransport())
	default:
		keys, err := gcp.DefaultCredentials(ctx)
		if err != nil {
			return nil, errors.New("there are no credentials for Google: set GOOGLE_APPLICATION_CREDENTIALS, or run gcloud auth application-default login")
		}
		var account struct {
			Email string `json:"client_email"`
			Key   string `json:"private_key"`
		}
		if json.Unmarshal(keys.JSON, &account) == nil && account.Key != "" {
			opener.Options.GoogleAccessID = account.Email
			opener.Options.PrivateKey = []byte(account.Key)
		}
		if opener.Client, err = gcp.NewHTTPClient(gcp.DefaultTransport(), gcp.CredentialsTokenSource(keys)); err != nil {
			return nil, err
		}
	}
	opener.Client.CheckRedirect = refuseRedirect
	bucket, err := opener.OpenBucketURL(ctx, at)
	if err != nil {
		return nil, err
	}
	out := &bucketService{bucket: bucket, classify: readGoogleFault}
	out.sign = func(ctx context.Context, key string, d objects.Download) (string, error) {
		return out.bucket.SignedURL(ctx, key, &blob.SignedURLOptions{Expiry: d.For,
			BeforeSign: func(as func(any) bool) error {
				var o *storage.SignedURLOptions
				if !as(&o) {
					return errors.New("the request to be signed is not known")
				}
				o.Scheme = storage.SigningSchemeV4
				o.QueryParameters = url.Values{"response-content-type": {d.MediaType},
					"response-content-disposition": {d.Disposition}}
				return nil
			}})
	}
	return out, nil
}

// readGoogleFault reads what Google Cloud Storage refused. That a bucket does not exist is
// only in its message.
func readGoogleFault(err error) objects.Fault {
	var said *googleapi.Error
	if !errors.As(err, &said) {
		return objects.FaultOfNetwork(err)
	}
	if said.Code == http.StatusNotFound && strings.Contains(said.Message+said.Body, "bucket does not exist") {
		return objects.NoBucket
	}
	for _, e := range said.Errors {
		if f := codes[e.Reason]; f != objects.NoFault {
			return f
		}
	}
	return statuses[said.Code]
}

// openAzure opens a container of Azure Blob Storage. Account and key come from the
// environment; with a shared key it can sign.
func openAzure(ctx context.Context, at *url.URL) (*bucketService, error) {
	var client *container.Client
	opener := &azureblob.URLOpener{ServiceURLOptions: *azureblob.NewDefaultServiceURLOptions(),
		MakeClient: func(svc azureblob.ServiceURL, name azureblob.ContainerName) (c *container.Client, err error) {
			client, err = newAzureClient(string(svc), string(name))
			return client, err
		}}
	bucket, err := opener.OpenBucketURL(ctx, at)
	if err != nil {
		return nil, err
	}
	s := &bucketService{bucket: bucket, classify: readAzureFault}
	account := cmp.Or(at.Query().Get("storage_account"), os.Getenv("AZURE_STORAGE_ACCOUNT"))
	if key := os.Getenv("AZURE_STORAGE_KEY"); account != "" && key != "" {
		shared, err := container.NewSharedKeyCredential(account, key)
		if err != nil {
			return nil, errors.New("AZURE_STORAGE_KEY is not the key of an account")
		}
		s.sign = func(_ context.Context, key string, d objects.Download) (string, error) {
			values := sas.BlobSignatureValues{ContainerName: at.Host, BlobName: s.prefix + key,
				Permissions: (&sas.BlobPermissions{Read: true}).String(),
				ExpiryTime:  time.Now().UTC().Add(d.For), ContentType: d.MediaType, ContentDisposition: d.Disposition,
				CacheControl: d.Cache}
			signed, err := values.SignWithSharedKey(shared)
			if err != nil {
				return "", err
			}
			return client.NewBlobClient(s.prefix+key).URL() + "?" + signed.Encode(), nil
		}
	}
	return s, nil
}

// newAzureClient makes a client as the portable library does by default, with a transport of
// its own.
func newAzureClient(svc, name string) (*container.Client, error) {
	client := ownTransport{&http.Client{CheckRedirect: refuseRedirect}}
	o := &container.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: client}}
	if said := cmp.Or(os.Getenv("AZURE_STORAGE_CONNECTION_STRING"),
		os.Getenv("AZURE_STORAGEBLOB_CONNECTIONSTRING")); said != "" {
		return container.NewClientFromConnectionString(said, name, o)
	}
	at, err := url.JoinPath(svc, name)
	if err != nil {
		return nil, err
	}
	account := os.Getenv("AZURE_STORAGE_ACCOUNT")
	key := os.Getenv("AZURE_STORAGE_KEY")
	switch {
	case account != "" && key != "":
		shared, err := container.NewSharedKeyCredential(account, key)
		if err != nil {
			return nil, errors.New("AZURE_STORAGE_KEY is not the key of an account")
		}
		return container.NewClientWithSharedKeyCredential(at, shared, o)
	case os.Getenv("AZURE_STORAGE_SAS_TOKEN") != "": // it is in the address
		return container.NewClientWithNoCredential(at, o)
	}
	keys, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	return container.NewClient(at, keys, o)
}

// ownTransport sends requests whose bodies are its own. Azure's client uploads from memory that
// it unmaps as soon as there is a response, and a transport may read on for a moment, which
// ends the process.
type ownTransport struct{ client *http.Client }

// Do implements policy.Transporter. A body has at most the size of a block.
func (o ownTransport) Do(r *http.Request) (*http.Response, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return o.client.Do(r)
	}
	content, err := io.ReadAll(r.Body)
	if closed := r.Body.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(content))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	return o.client.Do(r)
}

// readAzureFault reads what Azure Blob Storage refused.
func readAzureFault(err error) objects.Fault {
	var said *azcore.ResponseError
	if !errors.As(err, &said) {
		return objects.FaultOfNetwork(err)
	}
	if f := codes[said.ErrorCode]; f != objects.NoFault {
		return f
	}
	return statuses[said.StatusCode]
}

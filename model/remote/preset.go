package remote

import (
	"net"
	"net/url"
	"strings"

	"github.com/scrollback-ai/scrollback"
	"github.com/scrollback-ai/scrollback/internal/i18n"
	"github.com/scrollback-ai/scrollback/model"
)

// Preset is a provider known by name: its address, and what a person sets for it.
// A model is named "provider/name as the provider knows it".
type Preset struct {
	Name string
	URL  string // its address; empty if it must be set
	Key  string // the variable of its key
	// OtherKey is a variable that is used if Key is not set; empty for none.
	OtherKey string
	Base     string // the variable of another address
	// Host is the provider's own variable for where its server is, and Address turns it
	// into an address, empty for nothing. It is used if Base is not set.
	Host    string
	Address func(host string) string
	// Account is the variable that stands for {account} in URL.
	Account string
	// Local is a server on the user's machine, which may need no key.
	Local bool

	// Open makes the client of a model. It does no I/O.
	Open func(Endpoint) model.Model
}

// Endpoint is where a model is served, and what it is called with.
type Endpoint struct {
	Name    string // as conversations name the model
	Model   string // as the server names it
	BaseURL string // without a slash at its end
	Custom  bool   // the address is not the preset's own
	Unset   bool   // the key, the account or the address that it needs is not set
	Options Options
}

// IsLocal reports whether the model is served on this machine.
func (at Endpoint) IsLocal() bool {
	u, err := url.Parse(at.BaseURL)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// accountMark is replaced by the name of an account in an address.
const accountMark = "{account}"

// Endpoint resolves where a model is served, from what env says; o is how to call it.
// A missing key is refused, and a missing address invalid; both leave the endpoint Unset.
func (p Preset) Endpoint(id string, env func(string) string, o Options) (Endpoint, error) {
	const op = "remote.Endpoint"
	name := p.Name + "/" + id
	at := Endpoint{Name: name, Model: id, BaseURL: p.URL, Options: o}
	if id == "" {
		return at, scrollback.ParamErrorf(op, "model", i18n.NamesNoModel, name, name)
	}
	own, variable := p.ownAddress(env)
	if own != "" {
		at.BaseURL = own
		at.Custom = true
	}
	at.Options.Provider = p.Name
	at.Options.BaseVariable = variable
	at.Options.KeyVariable, at.Options.Key = p.findKey(env)
	at.Unset = true
	switch {
	case strings.Contains(at.BaseURL, accountMark) && env(p.Account) == "":
		return at, scrollback.Errorf(scrollback.Refused, op, i18n.ProviderNeedsAccount, name, p.Account)
	case at.BaseURL == "":
		return at, scrollback.ParamErrorf(op, "model", i18n.ProviderNeedsAddress, name,
			p.Base).WithAdvice(scrollback.AdviceCheckAddress, p.Base)
	case at.Options.Key == "" && !p.Local && !at.Custom:
		return at, scrollback.Errorf(scrollback.Refused, op, i18n.ProviderNeedsKey, name,
			p.Key).WithAdvice(scrollback.AdviceSetKey, p.Key)
	}
	at.Unset = false
	at.BaseURL = strings.TrimRight(strings.ReplaceAll(at.BaseURL, accountMark, url.PathEscape(env(p.Account))), "/")
	if u, err := url.Parse(at.BaseURL); err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "http" && u.Scheme != "https" {
		return at, scrollback.ParamErrorf(op, "base_url", i18n.NotAnAddressOfAPI, variable)
	}
	return at, nil
}

// ownAddress returns the address that a person has set, and the variable to set one with.
func (p Preset) ownAddress(env func(string) string) (address, variable string) {
	if address = strings.TrimSpace(env(p.Base)); address != "" || p.Host == "" {
		return address, p.Base
	}
	if host := strings.TrimSpace(env(p.Host)); host != "" {
		return p.Address(host), p.Host
	}
	return "", p.Base
}

// findKey returns the variable that holds the key, and the key; the first one if none
// does.
func (p Preset) findKey(env func(string) string) (variable, key string) {
	for _, variable := range []string{p.Key, p.OtherKey} {
		if variable == "" {
			continue
		}
		if key := strings.TrimSpace(env(variable)); key != "" {
			return variable, key
		}
	}
	return p.Key, ""
}

package secrets

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// rule is how a vendor's tokens look: a beginning, and of what how much follows. Least is
// without the beginning. Parts is how many pieces follow, with dots between them.
type rule struct {
	begin, what string
	of          uint8 // a class
	least       int
	exact       bool // no more than least either
	parts       int
}

// rules are tried in this order: the longer of two beginnings comes first. Beginnings and
// lengths are those that the vendors document.
var rules = []rule{
	{"github_pat_", "github token", inWord, 40, false, 0},
	{"ghp_", "github token", inWord, 30, false, 0}, {"gho_", "github token", inWord, 30, false, 0},
	{"ghu_", "github token", inWord, 30, false, 0}, {"ghs_", "github token", inWord, 30, false, 0},
	{"ghr_", "github token", inWord, 30, false, 0},
	{"glpat-", "gitlab token", inToken, 20, false, 0}, {"gldt-", "gitlab token", inURL, 20, false, 0},
	{"glrt-", "gitlab token", inToken, 20, false, 0}, {"glcbt-", "gitlab token", inURL, 20, false, 0},
	{"glptt-", "gitlab token", inURL, 40, false, 0}, {"glft-", "gitlab token", inURL, 20, false, 0},
	{"glsoat-", "gitlab token", inURL, 20, false, 0}, {"gloas-", "gitlab token", inURL, 40, false, 0},
	{"glimt-", "gitlab token", inURL, 20, false, 0}, {"glagent-", "gitlab token", inURL, 40, false, 0},
	{"glffct-", "gitlab token", inURL, 20, false, 0}, {"GR1348941", "gitlab token", inURL, 20, false, 0},
	{"AKIA", "aws key", isUpper, 16, true, 0}, {"ASIA", "aws key", isUpper, 16, true, 0},
	{"ABIA", "aws key", isUpper, 16, true, 0}, {"ACCA", "aws key", isUpper, 16, true, 0},
	{"ABSK", "aws key", inToken, 100, false, 0},
	{"AIza", "google key", inURL, 35, false, 0}, {"ya29.", "google token", inURL, 20, false, 0},
	{"GOCSPX-", "google secret", inURL, 24, false, 0},
	{"xoxb-", "slack token", inURL, 20, false, 0}, {"xoxp-", "slack token", inURL, 20, false, 0},
	{"xoxa-", "slack token", inURL, 20, false, 0}, {"xoxr-", "slack token", inURL, 20, false, 0},
	{"xoxs-", "slack token", inURL, 20, false, 0}, {"xoxe-", "slack token", inURL, 20, false, 0},
	{"xoxe.xox", "slack token", inURL, 20, false, 0}, {"xapp-", "slack token", inURL, 20, false, 0},
	{"hooks.slack.com/services/", "slack webhook", inToken, 30, false, 0},
	{"discord.com/api/webhooks/", "discord webhook", inToken, 50, false, 0},
	{"discordapp.com/api/webhooks/", "discord webhook", inToken, 50, false, 0},
	{"sk_live_", "stripe key", inWord, 16, false, 0}, {"sk_test_", "stripe key", inWord, 16, false, 0},
	{"rk_live_", "stripe key", inWord, 16, false, 0}, {"rk_test_", "stripe key", inWord, 16, false, 0},
	{"whsec_", "webhook secret", inToken, 24, false, 0},
	{"sk-ant-", "anthropic key", inURL, 24, false, 0}, {"sk-or-v1-", "openrouter key", inURL, 32, false, 0},
	{"sk-lf-", "langfuse key", inURL, 30, false, 0},
	{"sk-proj-", "openai key", inURL, 24, false, 0}, {"sk-svcacct-", "openai key", inURL, 24, false, 0},
	{"sk-admin-", "openai key", inURL, 24, false, 0}, {"sk-", "api key", inURL, 24, false, 0},
	{"sk_", "api key", isHex, 40, false, 0},
	{"xai-", "xai key", inWord, 40, false, 0}, {"gsk_", "groq key", inWord, 40, false, 0},
	{"pplx-", "perplexity key", inWord, 32, false, 0}, {"nvapi-", "nvidia key", inURL, 40, false, 0},
	{"r8_", "replicate token", inWord, 32, false, 0}, {"fw_", "fireworks key", inWord, 20, false, 0},
	{"tgp_v1_", "together key", inURL, 32, false, 0}, {"tvly-", "tavily key", inURL, 24, false, 0},
	{"pcsk_", "pinecone key", inWord, 40, false, 0}, {"lsv2_pt_", "langsmith key", inWord, 32, false, 0},
	{"lsv2_sk_", "langsmith key", inWord, 32, false, 0},
	{"hf_", "huggingface token", inWord, 30, false, 0}, {"api_org_", "huggingface token", inWord, 30, false, 0},
	{"npm_", "npm token", inWord, 36, false, 0}, {"pypi-AgE", "pypi token", inURL, 40, false, 0},
	{"rubygems_", "rubygems key", isHex, 40, false, 0}, {"dckr_pat_", "docker token", inURL, 20, false, 0},
	{"dckr_oat_", "docker token", inURL, 20, false, 0}, {"AKCp", "artifactory key", inWord, 60, false, 0},
	{"SG.", "sendgrid key", inURL, 16, false, 2}, {"SK", "twilio key", isHex, 32, true, 0},
	{"key-", "mailgun key", isHex, 32, true, 0},
	{"dop_v1_", "digitalocean token", isHex, 64, false, 0}, {"doo_v1_", "digitalocean token", isHex, 64, false, 0},
	{"dor_v1_", "digitalocean token", isHex, 64, false, 0}, {"dapi", "databricks token", isHex, 32, false, 0},
	{"dp.pt.", "doppler token", inWord, 40, false, 0}, {"dp.st.", "doppler token", inToken, 40, false, 0},
	{"fo1_", "fly token", inURL, 40, false, 0}, {"fm1r_", "fly token", inToken, 100, false, 0},
	{"fm2_", "fly token", inToken, 100, false, 0},
	{"shpat_", "shopify token", isHex, 32, false, 0}, {"shpca_", "shopify token", isHex, 32, false, 0},
	{"shppa_", "shopify token", isHex, 32, false, 0}, {"shpss_", "shopify secret", isHex, 32, false, 0},
	{"sq0atp-", "square token", inURL, 20, false, 0}, {"sq0csp-", "square secret", inURL, 40, false, 0},
	{"ATATT3", "atlassian token", inToken, 100, false, 0}, {"ATCTT3", "atlassian token", inToken, 100, false, 0},
	{"lin_api_", "linear key", inWord, 36, false, 0}, {"ntn_", "notion token", inWord, 40, false, 0},
	{"figd_", "figma token", inURL, 36, false, 0}, {"PMAK-", "postman key", inURL, 50, false, 0},
	{"glsa_", "grafana token", inWord, 36, false, 0}, {"glc_eyJ", "grafana token", inToken, 32, false, 0},
	{"sntrys_", "sentry token", inToken, 40, false, 0}, {"sntryu_", "sentry token", isHex, 60, false, 0},
	{"NRAK-", "newrelic key", inWord, 27, false, 0}, {"hvs.", "vault token", inURL, 24, false, 0},
	{"hvb.", "vault token", inURL, 60, false, 0}, {"pul-", "pulumi token", isHex, 40, false, 0},
	{"pscale_tkn_", "planetscale token", inToken, 32, false, 0}, {"pscale_pw_", "planetscale password", inToken, 32, false, 0},
	{"sbp_", "supabase token", isHex, 40, false, 0}, {"sb_secret_", "supabase key", inURL, 24, false, 0},
	{"LTAI", "alibaba key", inWord, 16, false, 0}, {"AKID", "tencent key", inWord, 32, true, 0},
	{"ops_eyJ", "1password token", inToken, 100, false, 0}, {"AGE-SECRET-KEY-1", "age key", isUpper, 58, false, 0},
	{"EZAK", "easypost key", inWord, 54, false, 0}, {"oy2", "nuget key", inWord, 43, true, 0},
	{"PMAT-", "postman key", inURL, 26, false, 0}, {"sha256~", "openshift token", inURL, 43, false, 0},
	{"A3-", "1password key", inURL, 30, false, 0}, {"EAAC", "facebook token", inWord, 100, false, 0},
	{"EAAM", "facebook token", inWord, 100, false, 0}, {"fm1a_", "fly token", inToken, 100, false, 0},
	{"sk_prod_", "stripe key", inWord, 16, false, 0}, {"rk_prod_", "stripe key", inWord, 16, false, 0},
	{"hooks.slack.com/workflows/", "slack webhook", inToken, 30, false, 0}, {"CLOJARS_", "clojars token", inWord, 60, false, 0},
	{"bedrock-api-key-", "aws key", inToken, 60, false, 0}, {"4b1d", "clickhouse key", inWord, 38, true, 0},
	{"sgp_", "sourcegraph token", isHex, 40, false, 0}, {"sqa_", "sonar token", isHex, 40, false, 0},
	{"squ_", "sonar token", isHex, 40, false, 0}, {"sqp_", "sonar token", isHex, 40, false, 0},
	{"v1.0-", "cloudflare key", inURL, 100, false, 0},
	{"eyJ", "json web token", inURL, 10, false, 3},
	{"Bearer ", "token", inToken, 16, false, 0}, {"bearer ", "token", inToken, 16, false, 0},
	{"Basic ", "basic credentials", inToken, 8, false, 0}, {"basic ", "basic credentials", inToken, 8, false, 0},
}

// starts are the rules by the first two bytes of their beginnings: what most words are
// dismissed by.
var starts = func() *[1 << 16]uint8 {
	var out [1 << 16]uint8
	for _, r := range rules {
		at := uint16(r.begin[0])<<8 | uint16(r.begin[1])
		if out[at] != 0 {
			continue
		}
		groups = append(groups, nil)
		for _, other := range rules {
			if other.begin[:2] == r.begin[:2] {
				groups[len(groups)-1] = append(groups[len(groups)-1], other)
			}
		}
		out[at] = uint8(len(groups))
	}
	return &out
}()

var groups [][]rule

// token is the vendor's token that begins at i.
func token(s string, i int) span {
	if i+12 > len(s) {
		return span{}
	}
	if g := starts[uint16(s[i])<<8|uint16(s[i+1])]; g != 0 {
		for _, r := range groups[g-1] {
			if strings.HasPrefix(s[i:], r.begin) {
				if at := r.match(s, i); at.to > at.from {
					return at
				}
			}
		}
	}
	if s[i] == 'M' || s[i] == 'N' || s[i] == 'O' {
		return discord(s, i)
	}
	return span{}
}

// Bounds of a token, in bytes: of one that carries claims, and of any other.
const longestToken, longestOpaque = 16 << 10, 2 << 10

func (r rule) match(s string, i int) span {
	from := i + len(r.begin)
	to := from
	for part := 1; ; part++ {
		start := to
		for to < len(s) && class[s[to]]&r.of != 0 {
			if to++; to-i > longestToken || to-i > longestOpaque && r.parts < 3 {
				return span{}
			}
		}
		if part < r.parts && to < len(s) && s[to] == '.' && to-start >= r.least {
			to++
			continue
		}
		if part < max(r.parts, 1) || to-start < r.least || r.exact && to-start > r.least {
			return span{}
		}
		break
	}
	if r.of == inToken {
		to = from + len(strings.TrimRight(s[from:to], "./~-"))
	}
	if to-from < r.least || r.exact && to < len(s) && class[s[to]]&inWord != 0 {
		return span{}
	}
	body := s[from:to]
	if entropy(body) < 2.8 || placeholder(body) || ascends(body) {
		return span{}
	}
	return r.sure(s, span{i, to, r.what}, body)
}

// sure are the further conditions of rules whose beginnings are common.
func (r rule) sure(s string, at span, body string) span {
	switch r.begin {
	case "Bearer ", "bearer ":
		at.from = at.to - len(body)
		if vendors(s, at.from) {
			return span{} // it is found by its own rule
		}
		if entropy(body) < 3.2 || !mixed(body) {
			return span{}
		}
	case "Basic ", "basic ":
		at.from = at.to - len(body)
		plain, err := base64.StdEncoding.DecodeString(body)
		if err != nil || !utf8.Valid(plain) || !strings.Contains(string(plain), ":") {
			return span{}
		}
	case "sk-", "fw_", "hf_", "xai-", "tvly-", "LTAI", "AKID", "oy2", "4b1d", "A3-", "EAAC", "EAAM":
		if r.begin != "A3-" && longest(body) < 16 || !mixed(body) && r.begin != "hf_" {
			return span{}
		}
	}
	return at
}

// discord is a bot's token: the number of its account in base64, and two pieces more.
func discord(s string, i int) span {
	to, parts := i, [3]int{}
	for part := range parts {
		for to < len(s) && class[s[to]]&inURL != 0 {
			to++
			parts[part]++
		}
		if part < 2 {
			if to >= len(s) || s[to] != '.' {
				return span{}
			}
			to++
		}
	}
	if parts[0] < 23 || parts[0] > 28 || parts[1] < 6 || parts[1] > 7 || parts[2] < 27 || parts[2] > 38 || !mixed(s[i:to]) {
		return span{}
	}
	return span{i, to, "discord token"}
}

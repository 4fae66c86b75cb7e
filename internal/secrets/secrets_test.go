package secrets_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/scrollback-ai/scrollback/internal/secrets"
)

// made returns a text of that many characters of an alphabet, the same in every run: what looks
// like a secret is put together here, so that no scanner finds one in this file.
func made(alphabet string, n int) string {
	r := rand.New(rand.NewPCG(7, uint64(n+len(alphabet))))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

const (
	hexes  = "0123456789abcdef"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	alnum  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	base64 = alnum + "+/"
	urls   = alnum + "-_"
)

func pem(kind string) string {
	body := made(base64, 64) + "\n" + made(base64, 63) + "\n" + made(base64, 20) + "=="
	return "-----BEGIN " + kind + "-----\n" + body + "\n-----END " + kind + "-----"
}

// vendors returns tokens and what they are masked as.
func vendors() map[string]string {
	return map[string]string{
		"ghp_" + made(alnum, 36):                                                "github token",
		"ghs_" + made(alnum, 36):                                                "github token",
		"github_pat_" + made(alnum, 22) + "_" + made(alnum, 59):                 "github token",
		"glpat-" + made(urls, 20):                                               "gitlab token",
		"glrt-" + made(urls, 20):                                                "gitlab token",
		"AKIA" + made(upper, 16):                                                "aws key",
		"ASIA" + made(upper, 16):                                                "aws key",
		made(alnum, 3) + "8Q~" + made(alnum, 34):                                "azure secret",
		"AIza" + made(urls, 35):                                                 "google key",
		"ya29." + made(urls, 60):                                                "google token",
		"GOCSPX-" + made(urls, 28):                                              "google secret",
		"xoxb-" + made("0123456789", 12) + "-" + made(alnum, 24):                "slack token",
		"xapp-1-A" + made(upper, 10) + "-" + made(hexes, 64):                    "slack token",
		"sk_live_" + made(alnum, 24):                                            "stripe key",
		"sk_test_" + made(alnum, 24):                                            "stripe key",
		"rk_live_" + made(alnum, 24):                                            "stripe key",
		"whsec_" + made(alnum, 32):                                              "webhook secret",
		"sk-proj-" + made(urls, 120):                                            "openai key",
		"sk-" + made(alnum, 48):                                                 "api key",
		"sk-" + made(hexes, 32):                                                 "api key",
		"sk-ant-api03-" + made(urls, 93) + "AA":                                 "anthropic key",
		"sk-or-v1-" + made(hexes, 64):                                           "openrouter key",
		"npm_" + made(alnum, 36):                                                "npm token",
		"pypi-AgEIcHlwaS5vcmc" + made(urls, 120):                                "pypi token",
		"hf_" + made(alnum[:52], 34):                                            "huggingface token",
		"SG." + made(urls, 22) + "." + made(urls, 43):                           "sendgrid key",
		"SK" + made(hexes, 32):                                                  "twilio key",
		"8" + made("123456790", 9) + ":AA" + made(urls, 33):                     "telegram token",
		"MT" + made(alnum, 24) + "." + made(urls, 6) + "." + made(urls, 38):     "discord token",
		"eyJ" + made(urls, 33) + ".eyJ" + made(urls, 60) + "." + made(urls, 43): "json web token",
		"A3-" + made(upper, 6) + "-" + made(upper, 11) + "-" + made(upper, 5) + "-A2B3C-9K4LM": "1password key",
		"v1.0-" + made(hexes, 24) + "-" + made(hexes, 146):                                     "cloudflare key",
		"dop_v1_" + made(hexes, 64):                                                            "digitalocean token",
		"shpat_" + made(hexes, 32):                                                             "shopify token",
		"gsk_" + made(alnum, 52):                                                               "groq key",
		"hvs." + made(urls, 90):                                                                "vault token",
		"AGE-SECRET-KEY-1" + made(upper, 58):                                                   "age key",
		"dckr_pat_" + made(urls, 27):                                                           "docker token",
		pem("RSA PRIVATE KEY"):                                                                 "private key",
		pem("OPENSSH PRIVATE KEY"):                                                             "private key",
		pem("ENCRYPTED PRIVATE KEY"):                                                           "private key",
		pem("PGP PRIVATE KEY BLOCK"):                                                           "private key",
	}
}

func TestVendors(t *testing.T) {
	for token, what := range vendors() {
		for _, frame := range []string{
			"%s", "use %s.", "\"%s\"", "(%s)", "token=%s\nnext", "密钥是%s。", "Authorization: Bearer %s", `{\"a\":\"x\n%s\"}`,
			"export TOKEN='%s'; run", "key: %s, other", "https://host/?a=1&token=%s&b=2", "<p>%s</p>",
		} {
			text := fmt.Sprintf(frame, token)
			got, n := secrets.MaskText(text)
			if want := fmt.Sprintf(frame, secrets.SecretMark(what)); got != want || n != 1 {
				t.Errorf("%q\nbecomes %q (%d)\nwant    %q", text, got, n, want)
			}
		}
	}
}

// Values that a name makes secrets: what is between the brackets is masked.
func TestAssigned(t *testing.T) {
	random := made(alnum, 32)
	for _, text := range []string{
		`api_key = "⟦` + random + `⟧"`, `apiKey: '⟦` + random + `⟧',`, `const apiKey: string = "⟦` + random + `⟧"`,
		`"api_key": "⟦` + made(hexes, 32) + `⟧"`, `{\"apiKey\":\"⟦` + random + `⟧\"}`, "API key: ⟦" + random + "⟧.",
		"DB_PASSWORD=⟦hunter2,x&y⟧\nA=1", "export SECRET_TOKEN=⟦" + random + "⟧", `password: "⟦hunter2⟧"`,
		"password: ⟦s3cr3tpw⟧\n",
		`PASSWORD = '⟦P@ssw0rd!⟧'`, "aws_secret_access_key = ⟦" + made(base64, 40) + "⟧",
		"AccountKey=⟦" + made(base64, 86) + "==⟧;Endpoint",
		`env["OPENAI_KEY"] = "⟦` + random + `⟧"`, `os.Setenv("X", "y"); secret := "⟦` + random + `⟧"`,
		`password: str = "⟦hunter22⟧"`,
		"X-Api-Key: ⟦" + random + "⟧", "Authorization: Bearer ⟦" + random + "⟧",
		"authorization: token ⟦" + made(hexes, 40) + "⟧",
		"Authorization: Basic ⟦dXNlcjpodW50ZXIy⟧", `-H "Authorization: Bearer ⟦` + random + `⟧"`,
		"mysql --password ⟦hunter2x9⟧ -u me",
		"--api-key=⟦" + random + "⟧", "postgres://me:⟦hunter2⟧@db:5432/x", "redis://:⟦h!nter2⟧@cache",
		"https://me:⟦p@ss1⟧@host/path",
		"https://⟦" + made(hexes, 40) + "⟧@host/x.git", "<password>⟦hunter2⟧</password>",
		"//registry/:_authToken=⟦" + random + "⟧",
		"curl -u me:⟦hunter2⟧ https://host", "curl -s --user 'me:⟦hunter2⟧' x", "密码：⟦hunter2⟧", "API密钥: ⟦" + random + "⟧",
		"the password is: ⟦hunter2⟧", "**Password:** ⟦hunter2⟧", "clientSecret=⟦" + random + "⟧&x=1",
		"https://hooks.example.net/?sig=⟦" + made(alnum, 43) + "⟧", `"refresh_token" : "⟦` + made(urls, 40) + `⟧"`,
		"PASSWORD_PROD=⟦hunter2⟧",
		"-----BEGIN RSA PRIVATE KEY-----\n" + made(base64, 64) + "\n" + made(base64, 64) + "\n[cut]", "kind = \"⟦x⟧\"",
	} {
		plain := strings.NewReplacer("⟦", "", "⟧", "").Replace(text)
		got, _ := secrets.MaskText(plain)
		from := strings.Index(text, "⟦")
		to := strings.Index(text, "⟧")
		if from < 0 {
			if strings.Contains(got, "BEGIN") || !strings.HasSuffix(got, "[cut]") {
				t.Errorf("%q becomes %q", plain, got)
			}
			continue
		}
		if text[from+len("⟦"):to] == "x" { // nothing is to be masked
			if got != plain {
				t.Errorf("%q becomes %q", plain, got)
			}
			continue
		}
		head := text[:from]
		tail := text[to+len("⟧"):]
		if !strings.HasPrefix(got, head+"[masked: ") || !strings.HasSuffix(got, "]"+tail) ||
			strings.Count(got, "[masked") != 1 {
			t.Errorf("%q\nbecomes %q", plain, got)
		}
	}
}

// innocent returns what looks like a secret and is none.
func innocent() []string {
	return []string{
		"commit " + made(hexes, 40), "sha256:" + made(hexes, 64), "image@sha256:" + made(hexes, 64),
		"550e8400-e29b-41d4-a716-446655440000",
		`"integrity": "sha512-` + made(base64, 86) + `=="`, "github.com/a/b v1.2.3 h1:" + made(base64, 43) + "=",
		`checksum = "` + made(hexes, 64) + `"`,
		"data:image/png;base64," + made(base64, 4000), `"id": "` + made(alnum, 22) + `"`, "etag: \"" + made(hexes, 32) + "\"",
		"api_key = os.environ[\"API_KEY\"]", "apiKey: process.env.API_KEY", "password = getPassword(user)",
		"token := r.Header.Get(\"Authorization\")",
		"api_key = \"your-api-key-here\"", "password: \"changeme\"", "TOKEN=${GITHUB_TOKEN}", "TOKEN=$TOKEN",
		"secret: <your secret>",
		"AWS_KEY=AKIAIOSFODNN7EXAMPLE", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		"ghp_1234567890abcdefghijklmnopqrstuvwxyz", "sk-...", "sk-xxxx",
		"max_tokens: 4096", "\"total_tokens\": 123456", "tokens=100", "token_type: bearer", "tokenizer: o200k_base",
		"num_tokens = count_tokens1(x)",
		"password: string", "token: int64", "secretName: db-credentials-v2", "secret_path: /run/secrets/db1", "key: value",
		"primary_key: user_id2",
		"cache-key: linux-" + made(hexes, 40), "key: " + made(hexes, 64), "public_key: " + made(base64, 44),
		"if token == \"abc\"",
		"scikit-learn sk-learn-contrib sk-toggleable__label-arrow", "task-force risk-assessment-2024-final-version-2",
		"https://host:8080/path@2x.png",
		"https://user@host/x", "https://user:password@localhost/db", "postgres://postgres:postgres@db/x", "mailto:a@b.c",
		"ssh://git@host:22/x",
		"12:34:56", "a: b", "这是一段没有密码的文字：请输入密码。", "密码: 请输入您的密码", "密码长度：8", "Donaudampfschifffahrtsgesellschaftskapitaen",
		"antidisestablishmentarianism_and_friends",
		"-----BEGIN CERTIFICATE-----\n" + made(base64, 64) + "\n-----END CERTIFICATE-----",
		"-----BEGIN PUBLIC KEY-----\n" + made(base64, 64) + "\n-----END PUBLIC KEY-----",
		"-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
		"\"password\": \"Enter your password\"", "label.password=Password", "passwordField: inputPassword", "basic auth",
		"Basic research: results",
		"Bearer of bad news everywhere", "func (t *Token) String() string", "eyJust", "page_token=next",
		"\"password\": \"\"", "token=null",
		"author: someone2", "keyboard: qwertz", "monkey: banana42banana", "secretary: Ms. Smith", "compass: N45E12",
		"csrf_token: " + made(alnum, 32),
		"docker run -u 1000:1000 x", "curl -u me:$PASS x", "--token-budget 20000", "--password-file /etc/x1",
		"const TokenLimitExceeded = \"token_limit_exceeded_2\"", "assert token.value2 == other.value2",
		"PWD=/Users/Jane/Projects/Shop2/src/Components",
		"\"EncapsulationKey768\": \"EncapsulationKey1024\"", "groupname:password:GID:user_list",
		"key: protobuf_specs_1.PublicKeyDetails.PKIX_ECDSA_P256_SHA_256", "token.ADD: allNumericOrString",
		"https://foo:bar@host/",
		"protocol://[&lt;user&gt;[:&lt;password&gt;]@]host", "Public key ping-sha256: " + made(base64, 43) + "=",
		"sha256=" + made(urls, 4) + "-fw_" + made(urls, 36), "package-lock.json", "Makefile:12: warning",
		"time=2026-01-02T03:04:05Z level=info key=12345678901234567890",
	}
}

func TestInnocent(t *testing.T) {
	for _, text := range innocent() {
		if got, n := secrets.MaskText(text); got != text || n != 0 {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func TestJSON(t *testing.T) {
	random := made(alnum, 32)
	for raw, want := range map[string]string{
		`{"password":"hunter2", "n" : 1e2}`:                     `{"password":"[masked: password]", "n" : 1e2}`,
		`{"cmd":["curl","--token","` + random + `","x"]}`:       `{"cmd":["curl","--token","[masked: token]","x"]}`,
		`{"cmd":"export API_KEY=` + random + `\necho <é>"}`:     `{"cmd":"export API_KEY=[masked: api key]\necho <é>"}`,
		`{"a":{"secret":{"name":"db-credentials-v2"}}}`:         `{"a":{"secret":{"name":"db-credentials-v2"}}}`,
		`["password","hunter2"]`:                                `["password","hunter2"]`,
		`{"headers":{"Authorization":"Bearer ` + random + `"}}`: `{"headers":{"Authorization":"Bearer [masked: token]"}}`,
		`{"env":"{\"api_key\":\"` + random + `\"}"}`:            `{"env":"{\"api_key\":\"[masked: api key]\"}"}`,
		`{"api_key":null,"x":"\ud83d\ude00","token":["a1b2"]}`:  `{"api_key":null,"x":"\ud83d\ude00","token":["a1b2"]}`,
		`"AKIA` + made(upper, 16) + `"`:                         `"[masked: aws key]"`,
		`{"key\u005fx":"y", "p\u0061ssword": "h\u0075nter2"}`:   `{"key\u005fx":"y", "p\u0061ssword": "[masked: password]"}`,
		`{"signature":"` + made(base64, 200) + `"}`:             `{"signature":"` + made(base64, 200) + `"}`,
		`{"half": "AKIA` + made(upper, 16):                      `{"half": "[masked: aws key]`,
		``:                                                      ``,
	} {
		got, n := secrets.MaskJSON([]byte(raw))
		if string(got) != want || (n > 0) != (raw != want) {
			t.Errorf("%s\nbecomes %s (%d)\nwant    %s", raw, got, n, want)
		}
		if again, n := secrets.MaskJSON(got); n != 0 || string(again) != string(got) {
			t.Errorf("masked again %s becomes %s", got, again)
		}
	}
}

// Whatever stands beside each other, masking again changes nothing, and JSON stays JSON.
func TestAgain(t *testing.T) {
	pieces := []string{
		" ", "=", ":", "\"", "\\\"", "'", "\n", "\\n", "password", "api_key", "token", "Bearer ", "://", "@", "me", "--", "]",
		"[",
		"hunter2", "<secret>", "</secret>", "[masked: token]", "密码", "：", ".", "-----BEGIN RSA PRIVATE KEY-----",
		"-----END RSA PRIVATE KEY-----",
		made(alnum, 30), made(hexes, 40), "Q~", ",", "_", "KEY", "{", "}",
	}
	pieces = append(pieces, slices.Sorted(maps.Keys(vendors()))...)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 14).Draw(t, "pieces"), "")
		once, n := secrets.MaskText(text)
		if twice, more := secrets.MaskText(once); twice != once || more != 0 {
			t.Fatalf("%q becomes %q (%d) and then %q", text, once, n, twice)
		}
		raw, err := json.Marshal(map[string]any{"a": text, "password": text, "list": []string{"--token", text}})
		if err != nil {
			t.Fatal(err)
		}
		masked, _ := secrets.MaskJSON(raw)
		if !json.Valid(masked) {
			t.Fatalf("%s becomes %s", raw, masked)
		}
		if again, more := secrets.MaskJSON(masked); more != 0 || string(again) != string(masked) {
			t.Fatalf("%s becomes %s and then %s", raw, masked, again)
		}
	})
}

// What repeats itself as no talk does takes time in proportion to its length: the test
// would not end otherwise.
func TestLinear(t *testing.T) {
	for _, piece := range []string{
		"sk-", "eyJ", "eyJa.", "token=", "-----BEGIN RSA PRIVATE KEY-----", "--token ", "://a:", "<secret>", "\\\"", "密码：",
		"Mx.", "curl -u a:",
		"password=\"", "Q~", "key: ", "1:", "a=", "-",
	} {
		if got, _ := secrets.MaskText(strings.Repeat(piece, 1<<19/len(piece))); got == "" {
			t.Errorf("%q becomes nothing", piece)
		}
	}
}

func FuzzMask(f *testing.F) {
	for token := range vendors() {
		f.Add("a " + token + " b")
	}
	for _, text := range innocent() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once, _ := secrets.MaskText(text)
		if twice, n := secrets.MaskText(once); n != 0 {
			t.Fatalf("%q becomes %q and then %q", text, once, twice)
		}
	})
}

// BenchmarkMask is the speed on ordinary talk: code and prose, few secrets.
func BenchmarkMask(b *testing.B) {
	talk := "The quick brown fox jumps over the lazy dog; then it says: hello.\n" +
		"\tif err := s.open(ctx, name); err != nil { return fmt.Errorf(\"open %s: %w\", name, err) }\n" +
		"你好，世界：这是一段普通的话。\n"
	text := strings.Repeat(strings.Join(innocent(), "\n")+"\n"+strings.Repeat(talk, 60), 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		secrets.MaskText(text)
	}
}

package secrets

import (
	"strings"
	"sync"
)

// Words of names.
var (
	passwords = wordSet("password passwd passphrase pwd pass passcode rootpassword userpassword dbpassword")
	secretly  = sync.OnceValue(func() map[string]bool {
		return wordSet(
			"secret secrets token credential credentials apikey accesskey secretkey privatekey authtoken accesstoken refreshtoken " +
				"clientsecret apitoken secretaccesskey apisecret authkey encryptionkey signingkey sharedaccesskey accountkey bottoken jwt authorization")
	})
	weakly = wordSet("key auth sid session sessionid sessid sig cookie")
	// A key of one of these is a secret.
	keys = sync.OnceValue(func() map[string]bool {
		return wordSet(
			"api access secret private encryption signing auth account shared master service session storage deploy client " +
				"subscription aes hmac admin app application license")
	})
	// What follows a word above and says that the value is something about it.
	about = sync.OnceValue(func() map[string]bool {
		return wordSet(
			"name ref id ids type types path file files filename dir url uri endpoint length len size count limit max min hash field " +
				"fields label title hint placeholder policy expires expiry expiration ttl at age prefix suffix index format mode reset " +
				"algorithm version env var variable provider manager store storage rotation usage budget window tokens per error " +
				"sha md fingerprint digest checksum integrity thumbprint message text header arn description regex pattern validator class selector input")
	})
	open = sync.OnceValue(func() map[string]bool {
		return wordSet(
			"public publishable csrf xsrf foreign primary cache sort partition max min input output total prompt completion " +
				"next page continuation special stop eos bos pad unk")
	})
	chinese = []string{"密码", "口令", "密钥", "令牌", "秘钥", "密碼", "密鑰", "權杖"}
)

// mostName is how long a name may be, in bytes.
const mostName = 64

// nameStrength returns how much a name says, and what its value is called.
func nameStrength(name string) (by strength, what string) {
	if name == "PWD" || name == "OLDPWD" {
		return none, "" // folders
	}
	var words [12]string
	var low [mostName]byte
	n := 0
	from := 0
	if len(name) > mostName {
		name = name[len(name)-mostName:]
	}
	end := func(to int) {
		if to > from && n < len(words) {
			for i := from; i < to; i++ {
				low[i] = name[i] | 0x20 // letters only matter
			}
			words[n] = string(low[from:to])
			n++
		}
	}
	for i := range len(name) {
		b := name[i]
		capital := b >= 'A' && b <= 'Z'
		switch {
		case class[b]&inWord == 0 || b == '_':
			end(i)
			from = i + 1
		case capital && i > from && (name[i-1] >= 'a' && name[i-1] <= 'z' ||
			i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z' && name[i-1] >= 'A' && name[i-1] <= 'Z'):
			end(i)
			from = i
		}
	}
	end(len(name))
	return judgeWords(words[:n])
}

// judgeWords returns what the words of a name say, the last most.
func judgeWords(words []string) (by strength, what string) {
	for i, w := range words {
		switch w = strings.TrimRight(w, "0123456789"); {
		case open()[w] && i+1 < len(words):
			return none, ""
		case passwords[w]:
			by = password
			what = "password"
		case secretly()[w]:
			by = strong
			what = "secret"
			if strings.HasSuffix(w, "token") || w == "jwt" || w == "authorization" {
				what = "token"
			} else if strings.HasSuffix(w, "key") {
				what = "api key"
			}
		case w == "key" && i > 0 && keys()[words[i-1]]:
			by = strong
			what = "api key"
		case weakly[w] && by == none:
			by = weak
			what = "key"
		case about()[w]:
			by = none
			what = ""
		}
	}
	return by, what
}

// findAssigned returns the value that stands behind a sign at i, from on, if the name before the
// sign says that it is a secret.
func findAssigned(s string, i, from int) secretSpan {
	if s[i] == '=' {
		switch {
		case from < len(s) && s[from] == '=', i > 0 && strings.IndexByte("=!<>", s[i-1]) >= 0:
			return secretSpan{} // a comparison
		case from < len(s) && s[from] == '>':
			from++
		case i > 0 && s[i-1] == ':':
			i--
		}
	} else if s[i] == ':' && from < len(s) && s[from] == '=' {
		return secretSpan{} // comes with the =
	}
	start, end := nameBefore(s, i)
	if start == end {
		return chineseName(s, i, from)
	}
	by, what := nameStrength(s[start:end])
	if by == none && s[i] != ':' && start > 0 { // password: str = "…"
		if j := len(strings.TrimRight(s[:start], " ")); j > 0 && s[j-1] == ':' {
			if a, b := nameBefore(s, j-1); a < b {
				by, what = nameStrength(s[a:b])
			}
		}
	}
	if by == none {
		return secretSpan{}
	}
	return findValue(s, from, valueName{by, what, s[i] == '=' && isVariable(s, start, end)})
}

// nameBefore returns where the name before a sign at i begins and ends: at most two words.
func nameBefore(s string, i int) (start, end int) {
	end = i
	for end > 0 && i-end < 8 && (s[end-1] == ' ' || s[end-1] == '\t') {
		end--
	}
	if end > 1 && s[end-1] == ']' && strings.IndexByte("\"'", s[end-2]) >= 0 { // env["KEY"]
		end--
	}
	if end > 0 && strings.IndexByte("\"'`*", s[end-1]) >= 0 {
		end--
		for end > 0 && (s[end-1] == '\\' || s[end-1] == '*') {
			end--
		}
	}
	start = end
	for start > 0 && end-start < mostName && (class[s[start-1]]&inURL != 0 || s[start-1] == '.') {
		start--
	}
	if start < end && start > 1 && s[start-1] == ' ' && class[s[start-2]]&inWord != 0 {
		for start--; start > 0 && end-start < mostName && class[s[start-1]]&inURL != 0; {
			start--
		}
	}
	return start, end
}

// isVariable reports whether a name is one of the environment, at the beginning of a line or
// behind a command that sets it.
func isVariable(s string, start, end int) bool {
	name := s[start:end]
	if i := strings.LastIndexByte(name, ' '); i >= 0 {
		first := strings.ToLower(name[:i])
		if first != "export" && first != "env" && first != "set" && first != "e" {
			return false
		}
		name = name[i+1:]
		start = 0
	}
	for i := range len(name) {
		if class[name[i]]&isUpper == 0 && name[i] != '_' {
			return false
		}
	}
	return start == 0 || strings.IndexByte("\n\r+ ;", s[start-1]) >= 0
}

func chineseName(s string, i, from int) secretSpan {
	before := strings.TrimRight(s[max(0, i-24):i], " ")
	before = strings.TrimSuffix(strings.TrimSuffix(before, "是"), "为")
	for _, word := range chinese {
		if strings.HasSuffix(before, word) {
			return findValue(s, from, valueName{password, "password", false})
		}
	}
	return secretSpan{}
}

package secrets

import "strings"

// mostArmored is how long a private key may be, in bytes.
const mostArmored = 64 << 10

// findArmored returns a private key over several lines, from its first line to its last. One that
// was cut ends where no line of it follows.
func findArmored(s string, i int) secretSpan {
	head := s[i+len("-----BEGIN "):]
	end := strings.Index(head[:min(len(head), 64)], "-----")
	if end < 0 || !strings.Contains(head[:end], "PRIVATE KEY") {
		return secretSpan{}
	}
	last := "-----END " + head[:end] + "-----"
	from := i + len("-----BEGIN ") + end + len("-----")
	body := s[from:min(len(s), from+mostArmored)]
	if next := strings.Index(body, "-----BEGIN "); next >= 0 {
		body = body[:next]
	}
	if n := strings.Index(body, last); n >= 0 {
		if longestRandom(body[:n]) < 20 { // "…", or nothing: an example
			return secretSpan{}
		}
		return secretSpan{i, from + n + len(last), "private key"}
	}
	to := 0
	for to < len(body) && (class[body[to]]&(inToken|isSpace) != 0 || strings.IndexByte(`\:,`, body[to]) >= 0) {
		to++
	}
	to = len(strings.TrimRight(body[:to], " \t\r\n\\"))
	if longestRandom(body[:to]) < 20 {
		return secretSpan{}
	}
	return secretSpan{i, from + to, "private key"}
}

// longestRandom returns how many bytes of a text the longest piece has that could be random: base64.
func longestRandom(s string) (most int) {
	n := 0
	for i := range len(s) {
		if class[s[i]]&inToken == 0 {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

// findAzure returns a client secret: three characters, a digit, Q~ and 31 to 34 more.
func findAzure(s string, i int) secretSpan {
	from := i - 5
	to := i + 1
	if from < 0 || s[i-1] != 'Q' || class[s[i-2]]&isDigit == 0 ||
		from > 0 && class[s[from-1]]&inURL != 0 && (from < 2 || s[from-2] != '\\') {
		return secretSpan{}
	}
	for to < len(s) && class[s[to]]&inToken != 0 {
		to++
	}
	to = i + len(strings.TrimRight(s[i:to], ".=/+"))
	if n := to - i - 1; n < 31 || n > 34 || isPlaceholder(s[from:to]) {
		return secretSpan{}
	}
	return secretSpan{from, to, "azure secret"}
}

// findTelegram returns a bot's token: its number, a colon and 35 more.
func findTelegram(s string, i int) secretSpan {
	from := i
	to := i + 1
	for from > 0 && i-from <= 10 && class[s[from-1]]&isDigit != 0 {
		from--
	}
	if n := i - from; n < 8 || n > 10 {
		return secretSpan{}
	}
	for to < len(s) && to-i <= 36 && class[s[to]]&inURL != 0 {
		to++
	}
	if to-i-1 != 35 || bitsPerByte(s[i+1:to]) < 3.5 || isAscending(s[i+1:to]) {
		return secretSpan{}
	}
	return secretSpan{from, to, "telegram token"}
}

// findURLPassword returns the password in a URL, whose host or user begins at i.
func findURLPassword(s string, i int) secretSpan {
	colon := -1
	at := -1
	for j := i; j < len(s) && j-i < 512; j++ {
		switch b := s[j]; {
		case b == ':' && colon < 0:
			colon = j
		case b == '@':
			at = j
		case b == '/' || class[b]&isSpace != 0 || strings.IndexByte("\"'`<>\\?#|", b) >= 0:
			j = len(s)
		}
	}
	switch {
	case at < 0:
	case colon >= 0 && colon < at:
		password := s[colon+1 : at]
		if len(password) >= 4 && !isWellKnown(password) && !isPlaceholder(password) &&
			!strings.ContainsAny(password, "$%{}*[]") {
			return secretSpan{colon + 1, at, "password"}
		}
		if strings.Contains(password, "%") && bitsPerByte(password) > 2.5 && !strings.HasPrefix(password, "%") {
			return secretSpan{colon + 1, at, "password"} // %40 for an @
		}
	case at-i >= 20 && isMixed(s[i:at]) && bitsPerByte(s[i:at]) > 3.5 && class[s[i]]&inURL != 0:
		return secretSpan{i, at, "token"}
	}
	return secretSpan{}
}

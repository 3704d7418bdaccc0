package process

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestRedactText: the whole value of a named secret is redacted, however it is written, and
// nothing else.
func TestRedactText(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// quotes
		{`password="correct horse battery" user=me`, `password=[redacted] user=me`},
		{`{"password": "two words", "name": "kept"}`, `{"password": [redacted], "name": "kept"}`},
		{`{"password":"a \"b\" c","name":"kept"}`, `{"password":[redacted],"name":"kept"}`},
		{`{"password":"ends \\","name":"kept"}`, `{"password":[redacted],"name":"kept"}`},
		{`db_password = 'single quoted words' and more`, `db_password = [redacted] and more`},
		{`secret: 'it''s two' done`, `secret: [redacted] done`},
		{`PASSWORD="two "'quoted words' next`, `PASSWORD=[redacted] next`},
		{`body {\"password\": \"two words\", \"name\": \"kept\"}`, `body {\"password\": [redacted], \"name\": \"kept\"}`},
		{`body {\"password\": \"a \\\"b c\\\" d\", \"name\": \"kept\"}`, `body {\"password\": [redacted], \"name\": \"kept\"}`},
		{`password="not closed at all`, `password=[redacted]`},
		{"password=\"not closed\nnext line", "password=[redacted]\nnext line"},
		{"a password=`in backticks` b", "a password=[redacted] b"},
		{"{\n  \"apiKey\":\n    \"two words\",\n  \"n\": 1\n}", "{\n  \"apiKey\":\n    [redacted],\n  \"n\": 1\n}"},
		{`"accessToken": ["a b", "c"], "kept": 1`, `"accessToken": [redacted], "kept": 1`},
		{`"secrets": {"a": "b } c", "d": [1]}, "kept": 1`, `"secrets": [redacted], "kept": 1`},
		// YAML and settings files
		{"password: correct horse battery\nname: kept", "password: [redacted]\nname: kept"},
		{"  - token: two words # a comment\n    name: kept", "  - token: [redacted] # a comment\n    name: kept"},
		{"db:\n  password: |\n    line one\n\n    line two\n  name: kept", "db:\n  password: [redacted]\n  name: kept"},
		{"key:\n  privateKey: >-\n    folded\n    text", "key:\n  privateKey: [redacted]"},
		{"password = two words\r\nname = kept", "password = [redacted]\r\nname = kept"},
		{"export API_KEY=abc\nPATH=kept", "export API_KEY=[redacted]\nPATH=kept"},
		{"API_KEY=abc make all", "API_KEY=[redacted] make all"},
		// headers, flags, addresses
		{"Authorization: Bearer abc.def-ghi\nAccept: kept", "Authorization: [redacted]\nAccept: kept"},
		{"> Cookie: a=b; c=d\n> Host: kept", "> Cookie: [redacted]\n> Host: kept"},
		{`curl -H 'Authorization: Basic dXNlcjpwYXNz' https://kept.org`, `curl -H 'Authorization: [redacted]' https://kept.org`},
		{`curl -H "X-Api-Key: two words" -o kept`, `curl -H "X-Api-Key: [redacted]" -o kept`},
		{`Proxy-Authorization: Digest username="a", response="b"`, `Proxy-Authorization: [redacted]`},
		{`login --password 'two words' --user kept`, `login --password [redacted] --user kept`},
		{`login --token abc --user kept`, `login --token [redacted] --user kept`},
		{`https://me:p@ss:word@kept.org/x?api_key=abc&kept=1`, `https://[redacted]@kept.org/x?api_key=[redacted]&kept=1`},
		{`https://ghp_0123456789abcdef0123@kept.org/x`, `https://[redacted]@kept.org/x`},
		{`ssh://git@kept.org/x and http://kept.org:80/@scope/x`, `ssh://git@kept.org/x and http://kept.org:80/@scope/x`},
		{`the header is bearer abcdefgh12345`, `the header is bearer [redacted]`},
		// counts and words of sentences are kept
		{`{"tokenCount":120,"max_tokens":"4096","total_tokens": 1,200}`, `{"tokenCount":120,"max_tokens":"4096","total_tokens": 1,200}`},
		{`"tokens": {"input": 5, "output": 7}, "n": 1`, `"tokens": {"input": 5, "output": 7}, "n": 1`},
		{"tokens: 512 of 1000", "tokens: 512 of 1000"},
		{"all: 5 tokens: 512\nmax_tokens=100 tokenLimit=12k.", "all: 5 tokens: 512\nmax_tokens=100 tokenLimit=12k."},
		{`{"tokenCount":"abc def","token":120}`, `{"tokenCount":[redacted],"token":[redacted]}`},
		{"the password is wrong, the token expired; no secret here", "the password is wrong, the token expired; no secret here"},
		{"PWD=/home/me OLDPWD=/tmp tokenizer: gpt2", "PWD=/home/me OLDPWD=/tmp tokenizer: gpt2"},
		{`echo "password: " done`, `echo "password: " done`},
		{"nothing at all", "nothing at all"},
	} {
		if got := redactText(c.text); got != c.want {
			t.Errorf("%s\n  is  %s\n want %s", c.text, got, c.want)
		}
	}
}

// TestRedactLongText: the search is bounded, and no half of a secret remains at the end.
func TestRedactLongText(t *testing.T) {
	for _, part := range []string{`'password: `, `token="`, `secrets: [`, "https://me:hunter2@x ", `\"cookie\" = \"a`, "x", "-\n"} {
		got := redactText(strings.Repeat(part, 1<<20/len(part)))
		if len(got) > 2*maxRedacted || strings.Contains(got, "hunter2") {
			t.Errorf("%q, many times, is %d bytes: %.200q", part, len(got), got)
		}
	}
}

// TestRedactPayload: keys decide, and counts stay numbers.
func TestRedactPayload(t *testing.T) {
	for payload, want := range map[string]string{
		`{"tokenCount":120}`: `{"tokenCount":120}`,
		`{"max_tokens":"4096","total_tokens":1.5,"cookieCount":3}`:                `{"cookieCount":3,"max_tokens":"4096","total_tokens":1.5}`,
		`{"tokens":{"in":5,"out":[1,2]}}`:                                         `{"tokens":{"in":5,"out":[1,2]}}`,
		`{"tokens":{"in":"abc"}}`:                                                 `{"tokens":"[redacted]"}`,
		`{"token":120,"password":7,"access_token":"x"}`:                           `{"access_token":"[redacted]","password":"[redacted]","token":"[redacted]"}`,
		`{"hasPassword":true,"token":null}`:                                       `{"hasPassword":true,"token":null}`,
		`{"db_pwd":"x","key":"x","connectionString":"x","tokenizer":"gpt2"}`:      `{"connectionString":"[redacted]","db_pwd":"[redacted]","key":"[redacted]","tokenizer":"gpt2"}`,
		`["password=\"two words\"",{"note":"{\"password\": \"correct horse\"}"}]`: `["password=[redacted]",{"note":"{\"password\": [redacted]}"}]`,
		`{"password=\"two words\"":1}`:                                            `{"password=[redacted]":"[redacted]"}`,
	} {
		if got := string(cleanPayload([]byte(payload))); got != want {
			t.Errorf("%s\n  is  %s\n want %s", payload, got, want)
		}
	}
}

// FuzzRedact: a quoted value is redacted in any context, and a text without a name is
// unchanged.
func FuzzRedact(f *testing.F) {
	for _, seed := range [][3]string{
		{"x ", "two words", " y"}, {"{\"a\": 1, ", `a\"b`, "}"}, {"- ", "|", "\n  x"}, {"'", "é", "'"}, {"https://a:b@", "c", "@d"}, {"\\\"", "\\", "\""},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, before, value, after string) {
		for _, text := range []string{before + value + after, before + "password: " + value + after, before + "token=" + value + after} {
			if got := redactText(text); utf8.ValidString(text) && !utf8.ValidString(got) {
				t.Fatalf("%q is no text any more: %q", text, got)
			}
		}
		const secret = "hunter2 and three"
		plain := strings.Map(func(r rune) rune {
			if strings.ContainsRune("\"'`\\[{", r) {
				return -1
			}
			return r
		}, value)
		for _, quote := range []string{`"`, `'`, `\"`} {
			text := "x\npassword=" + quote + plain + secret + quote + after
			if got := redactText(text); strings.Contains(got, secret) && !strings.Contains(after, secret) {
				t.Errorf("%q is %q", text, got)
			}
		}
	})
}

package visible

import "testing"

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 1, ""}, {"a", 1, "a"}, {"ab", 1, "…"}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"},
		{"ähß", 3, "ähß"}, {"ähßü", 3, "äh…"}, {"one two", 5, "one…"}, {"a\xffcd", 3, "a\xff…"},
	} {
		if got := Shorten(c.text, c.most); got != c.want {
			t.Errorf("%q in %d characters is %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func TestHead(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"aä", 2, "a"}, {"aä", 3, "aä"}, {"界", 2, ""}, {"abc", -1, ""},
		{"\x80\x80\x80", 2, "\x80\x80"}, {"aaaa\x80\x80\x80\x80\x80", 8, "aaaa\x80\x80\x80\x80"},
	} {
		if got := Head(c.text, c.most); got != c.want {
			t.Errorf("%d bytes of %q are %q, want %q", c.most, c.text, got, c.want)
		}
	}
}
